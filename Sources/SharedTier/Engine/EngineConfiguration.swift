import HTTPMessage
import RESPWire
import ServerTrust

/// How to reach the engine.
package struct EngineConfiguration: Sendable {
    package var url: EngineURL
    /// The ACL user; `nil` for the engine's default user.
    package var user: String?
    /// Reads the password, before each connection, so that a changed password is used at once. `nil` for none.
    package var password: (@Sendable () -> [UInt8]?)?
    /// The policy by which a server is verified, for `rediss`. `nil`: no server is trusted.
    package var trust: @Sendable (_ host: String, _ port: UInt16) -> TrustPolicy? = { _, _ in nil }
    /// How long a look-up waits for the engine, in milliseconds.
    package var timeout = 50
    /// How long an engine may leave a command unanswered, in milliseconds; then its connection is closed.
    package var silence = 1000
    /// How long connecting may take, in milliseconds, with TLS and the greeting.
    package var connecting = 2000

    package init(url: EngineURL) { self.url = url }
}

/// Why a command has no reply.
package enum EngineFailure: Error, Equatable, Sendable {
    /// There is no connection to the engine now.
    case unreachable
    /// No node of the cluster serves the key's slot.
    case unserved
    case timedOut
    /// The connection ended.
    case closed
    case refused(EngineError)
    /// The engine sent bytes that are not RESP.
    case malformed
    /// TLS with the engine failed, or its certificate is not trusted.
    case tls(String)
    /// The engine is older than Redis 7.
    case tooOld
    /// Too many commands wait for the engine.
    case full
    /// The cluster has sent the command from node to node.
    case redirectedTooOften

    /// The word for metrics and logs.
    package var word: String {
        switch self {
        case .unreachable: "unreachable"
        case .unserved: "unserved"
        case .timedOut: "timeout"
        case .closed: "closed"
        case .refused(let error): error.code == .outOfMemory ? "full" : "refused"
        case .malformed: "malformed"
        case .tls: "tls"
        case .tooOld: "too_old"
        case .full: "queue_full"
        case .redirectedTooOften: "redirected"
        }
    }

    /// A sentence for people, without its period.
    package var description: String {
        switch self {
        case .unreachable: "there is no connection to the engine"
        case .unserved: "no node of the cluster serves the slot of the key"
        case .timedOut: "the engine does not answer in time"
        case .closed: "the engine closed the connection"
        case .refused(let error):
            "the engine refused a command: \(error.code == .other ? "" : error.code.rawValue + " ")\(error.text)"
        case .malformed: "the server does not speak the protocol of Redis"
        case .tls(let reason): "TLS with the engine failed: \(reason)"
        case .tooOld: "the engine is older than Redis 7"
        case .full: "too many commands wait for the engine"
        case .redirectedTooOften: "the cluster redirects a command in a circle"
        }
    }
}
