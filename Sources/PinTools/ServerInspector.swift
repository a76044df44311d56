import EventLoop
import Foundation
import LarderSettings
import ServerTrust
import UpstreamTransport

/// The outcome of one handshake with a server.
package enum InspectionOutcome: Sendable {
    case believed(TrustVerdict)
    case refused(TrustFailure)
    /// The server was not verified: there was no connection, or no handshake.
    case unreachable(TransportError)
}

/// Verifies servers by one handshake each, with the proxy's settings for connections: `resolve`, `egress.addresses`, `upstream.proxy` and
/// `timeouts.connect` apply.
package struct ServerInspector {
    /// The number of simultaneous handshakes.
    static let concurrencyLimit = 16

    private let configuration: TransportConfiguration

    /// - Parameter policies: the policies to verify with; `nil` uses the policies of the settings.
    package init(_ settings: LarderSettings, policies: TrustPolicySet? = nil) {
        var configuration = settings.transport
        if let policies { configuration.trust = policies }
        self.configuration = configuration
    }

    /// Blocks until the slowest server is done.
    /// - Returns: the outcomes in the order of the servers.
    package func judge(_ servers: [NamedServer]) throws -> [InspectionOutcome] {
        // SIGPIPE is ignored because OpenSSL writes to sockets without MSG_NOSIGNAL.
        signal(SIGPIPE, SIG_IGN)
        let loop = try EventLoop()
        let transport = Transport(loop: loop, configuration: configuration, budgets: UpstreamBudgets())
        defer { transport.close() }
        let round = Round(loop, transport, servers)
        round.begin()
        if !servers.isEmpty { loop.run() }
        return round.judgements.compactMap { $0 }
    }
}

/// One round of handshakes with several servers. Confined to the thread that runs its loop.
private final class Round {
    private(set) var judgements: [InspectionOutcome?]
    private let loop: EventLoop
    private let transport: Transport
    private let servers: [NamedServer]
    private var next = 0
    private var left: Int

    init(_ loop: EventLoop, _ transport: Transport, _ servers: [NamedServer]) {
        self.loop = loop
        self.transport = transport
        self.servers = servers
        judgements = Array(repeating: nil, count: servers.count)
        left = servers.count
    }

    func begin() {
        for _ in servers.prefix(ServerInspector.concurrencyLimit) { judgeNext() }
    }

    private func judgeNext() {
        guard next < servers.count else { return }
        let index = next
        next += 1
        transport.judgeServer(of: servers[index].origin) { [unowned self] result in
            judgements[index] =
                switch result {
                case .success(let verdict): .believed(verdict)
                case .failure(.untrusted(let failure)): .refused(failure)
                case .failure(let error): .unreachable(error)
                }
            left -= 1
            if left == 0 { loop.stop() } else { judgeNext() }
        }
    }
}
