import CommandSupport
import Foundation
import ServerTrust

/// The server evidence that the store has recorded, from the running Larder if there is one, else from the store's file.
package struct RecordedServers {
    struct Server {
        let server: NamedServer
        let evidence: ServerEvidence
    }

    /// The servers in the order of their names.
    let servers: [Server]
    /// Whether all servers that the store has evidence of are listed.
    package let isComplete: Bool

    /// - Parameter octets: the JSON content of `GET /v1/cache/chains`.
    package init(_ octets: [UInt8]) {
        let answer = JSONAnswer(String(decoding: octets, as: UTF8.self))
        let origins = answer["origins"] as? [[String: Any]] ?? []
        servers = origins.compactMap(Self.server)
        isComplete = answer["complete"] as? Bool ?? false
    }

    private static func server(_ origin: [String: Any]) -> Server? {
        guard let name = origin["origin"] as? String, let named = NamedServer(argument: name),
            let digits = origin["record"] as? String, let record = octets(ofHexadecimal: digits),
            let evidence = ServerEvidence(record: record)
        else { return nil }
        let port = named.port == NamedServer.usualPort ? nil : named.port
        return Server(server: NamedServer(host: named.host, port: port), evidence: evidence)
    }

    private static func octets(ofHexadecimal digits: String) -> [UInt8]? {
        let digits = Array(digits.utf8)
        guard digits.count % 2 == 0 else { return nil }
        var octets: [UInt8] = []
        octets.reserveCapacity(digits.count / 2)
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = value(digits[index]), let low = value(digits[index + 1]) else { return nil }
            octets.append(high << 4 | low)
        }
        return octets
    }

    private static func value(_ digit: UInt8) -> UInt8? {
        switch digit {
        case 0x30...0x39: digit - 0x30
        case 0x61...0x66: digit - 0x61 + 10
        default: nil
        }
    }
}

extension PinLearning {
    /// Proposes pins like `learn`, but from recorded evidence. The evidence is verified for the current time, without contacting
    /// servers.
    /// - Parameter wanted: the servers; empty means all that have no policy of their own.
    /// - Returns: the results, with servers that are not recorded at the end.
    package func learn(
        _ recorded: RecordedServers, of wanted: [NamedServer]
    ) -> [(server: NamedServer, result: Result<PinProposal, Refusal>)] {
        func hasPolicy(_ server: NamedServer) -> Bool {
            trust.ownSite(of: server) != nil || trust.pinningSite(of: server) != nil
        }
        var learned: [(NamedServer, Result<PinProposal, Refusal>)] = []
        for one in recorded.servers
        where wanted.isEmpty ? !hasPolicy(one.server) : wanted.contains(one.server.named(in: wanted)) {
            let server = one.server.named(in: wanted)
            learned.append((server, Result { () throws(Refusal) in try proposal(server, judgement(of: one)) }))
        }
        for server in wanted where !learned.contains(where: { $0.0 == server }) {
            learned.append((server, .failure(Refusal(reason: "the store contains no certificates of this server"))))
        }
        return learned
    }

    private func judgement(of recorded: RecordedServers.Server) -> InspectionOutcome {
        let origin = recorded.server.origin
        guard let policy = policy(for: recorded.server) else { return .unreachable(.noTrustAnchors) }
        do throws(TrustFailure) {
            return .believed(try policy.evaluate(recorded.evidence, host: origin.host, at: now))
        } catch {
            return .refused(error)
        }
    }
}

extension NamedServer {
    /// The server in the form that the user wrote, with or without the default port.
    fileprivate func named(in wanted: [NamedServer]) -> NamedServer { wanted.first { $0.origin == origin } ?? self }
}
