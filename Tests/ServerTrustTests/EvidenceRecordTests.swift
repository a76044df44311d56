import Testing

@testable import ServerTrust

@Suite("Server evidence that is stored and verified later")
struct EvidenceRecordTests {
    private static let file = VectorFile.shared

    private static func outcome(_ policy: TrustPolicy, _ evidence: ServerEvidence, _ host: String, _ now: Int64) -> String {
        do throws(TrustFailure) {
            let verdict = try policy.evaluate(evidence, host: host, at: POSIXTime(seconds: now))
            let words = verdict.allowed.map(\.rawValue).sorted()
            return "\(verdict.chain.map(\.digest)) \(words) \(verdict.staple) \(verdict.signedTimestampCount ?? -1)"
        } catch {
            return "\(error)"
        }
    }

    @Test("Evidence read back from its record gives the same outcome as the original, for every vector")
    func isReadBack() throws {
        for vector in Self.file.vectors where vector.listed == nil {
            // For some vectors the policy itself is invalid.
            guard let policy = try? Self.file.policy(of: vector) else { continue }
            let evidence = Self.file.evidence(of: vector)
            let kept = try #require(ServerEvidence(record: evidence.record))
            #expect(
                Self.outcome(policy, kept, vector.host, vector.at) == Self.outcome(policy, evidence, vector.host, vector.at))
            #expect(kept.record == evidence.record)
        }
    }

    @Test("A record that is cut inside a part, or has a part of unknown kind, is not read")
    func refusesWhatIsCut() throws {
        let vector = try #require(Self.file.vectors.first { $0.staple != nil && $0.tls != nil || $0.staple != nil })
        let record = Self.file.evidence(of: vector).record
        var ends = 0
        for count in 1..<record.count {
            guard let evidence = ServerEvidence(record: Array(record.prefix(count))) else { continue }
            // A prefix is readable only if it ends where a part ends.
            #expect(evidence.record == Array(record.prefix(count)))
            ends += 1
        }
        #expect(ends < 8)
        #expect(ServerEvidence(record: [9, 0, 0, 0, 0]) == nil)
        #expect(ServerEvidence(record: [4, 0, 0, 0, 1, 3]) == nil)
        #expect(ServerEvidence(record: [1, 0xFF, 0xFF, 0xFF, 0xFF, 0]) == nil)
    }

    @Test("A verdict gives the last second for which its revocation lists and stapled response are valid")
    func knowsTheEndOfRevocation() throws {
        var seen = 0
        for vector in Self.file.vectors where vector.expect == "accept" && vector.listed == nil {
            let policy = try Self.file.policy(of: vector)
            let evidence = Self.file.evidence(of: vector)
            func verdict(at now: POSIXTime) throws -> TrustVerdict { try policy.evaluate(evidence, host: vector.host, at: now) }
            let now = POSIXTime(seconds: vector.at)
            let first = try verdict(at: now)
            guard let end = first.revocationKnownUntil, !first.allowed.contains(.revocationUnknown), end < first.expires else {
                if policy.revocation.listCheck == .off, policy.revocation.stapleCheck == .off {
                    #expect(first.revocationKnownUntil == nil)
                }
                continue
            }
            seen += 1
            #expect(end >= now && policy.lastMoment(of: first, after: now) == end)
            #expect(try verdict(at: end).allowed == first.allowed)
            do throws(TrustFailure) {
                let later = try policy.evaluate(evidence, host: vector.host, at: POSIXTime(seconds: end.seconds + 1))
                #expect(later.allowed.contains(.revocationUnknown))
            } catch { #expect(error.reason == .revocationUnknown) }
        }
        #expect(seen >= 3)
    }
}
