import ServerTrust
import Testing

@Suite("Chains judged by policies (RFC 5280 §6, 7469, 9525; T30, T31, T33)")
struct TrustVectorTests {
    private static let file = VectorFile.shared

    @Test("Each vector gives its expected outcome, at the expected certificate", arguments: file.vectors)
    func outcome(vector: VectorFile.Vector) throws {
        let evidence = Self.file.evidence(of: vector)
        do {
            let verdict = try Self.judge(vector, evidence)
            #expect(vector.expect == "accept")
            try expect(verdict, is: vector)
        } catch let failure as TrustFailure {
            #expect(failure.reason.rawValue == vector.expect)
            #expect(failure.host == vector.host)
            if let depth = vector.depth {
                #expect(failure.depth == depth)
                #expect(failure.certificate != nil)
            }
        } catch let fault as TrustPolicyFault {
            #expect("fault:\(fault)".prefix { $0 != "(" } == vector.expect)
        }
    }

    private static func judge(_ vector: VectorFile.Vector, _ evidence: ServerEvidence) throws -> TrustVerdict {
        let policy = try file.policy(of: vector)
        let now = POSIXTime(seconds: vector.at)
        guard let listed = vector.listed else { return try policy.evaluate(evidence, host: vector.host, at: now) }
        let set = try TrustPolicySet(listed.map { TrustPolicySet.Entry(host: $0, policy: policy) }, fallback: .deny)
        return try set.evaluate(evidence, host: vector.host, port: 443, at: now)
    }

    private func expect(_ verdict: TrustVerdict, is vector: VectorFile.Vector) throws {
        #expect(verdict.allowed.map(\.rawValue).sorted() == vector.allowed ?? [])
        #expect(verdict.reported?.reason.rawValue == vector.reported)
        #expect(verdict.signedTimestampCount == vector.counted)
        #expect(verdict.matchedPin?.publicKeyDigest == (try vector.pin.map(Self.file.certificate)?.publicKeyDigest))
        if let verified = vector.verified { #expect(try verdict.chain == verified.map(Self.file.certificate)) }
    }

    @Test("Every reason occurs in at least three vectors, and there are at least 250 vectors")
    func coversEveryReason() {
        let outcomes = Self.file.vectors.map(\.expect)
        #expect(outcomes.count >= 250)
        for reason in TrustFailure.Reason.allCases {
            #expect(outcomes.count { $0 == reason.rawValue } >= 3, "\(reason)")
        }
    }

    @Test("One policy gives the same verdict on every thread at the same time")
    func isTheSameOnEveryThread() async throws {
        let vector = try #require(Self.file.vectors.first { $0.pin == "leaf" })
        let policy = try Self.file.policy(of: vector)
        let evidence = Self.file.evidence(of: vector)
        let pins = try await withThrowingTaskGroup(of: [SHA256Digest?].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try (0..<20).map { _ in
                        try policy.evaluate(evidence, host: vector.host, at: POSIXTime(seconds: vector.at)).matchedPin?
                            .publicKeyDigest
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(pins.count == 160)
        #expect(Set(pins) == [try Self.file.certificate("leaf").publicKeyDigest])
    }
}
