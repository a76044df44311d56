import HTTPMessage

/// What proves to an origin or a proxy who asks. Never written into errors or descriptions.
public enum HTTPCredential: Equatable, Sendable {
    /// For Digest (RFC 7616), where that is offered with an algorithm that is known, else for Basic (RFC 7617).
    case password(user: String, password: String)
    /// For Bearer (RFC 6750).
    case bearer(String)
}

extension HTTPCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .password: "a name and a password"
        case .bearer: "a bearer token"
        }
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// What a session does when it is asked for credentials.
public enum ChallengeAnswer: Sendable {
    /// The request is sent again with this; where none of the schemes offered takes it, the response stands.
    case credential(HTTPCredential)
    /// As if there were no handler: the session's own credential for the host, if there is one.
    case standard
    /// The response (401 or 407) is the answer.
    case reject
    /// The transfer fails with `challenge_rejected`.
    case cancel
    /// The transfer fails with this.
    case error(SessionError)
}

/// Who is asked for credentials, and what happens when.
public struct ChallengePolicy: Sendable {
    /// A credential, and for whom it is.
    public struct Entry: Sendable {
        /// In lower case, or an address.
        public let host: String
        /// `nil` for every port.
        public let port: UInt16?
        /// `nil` for every realm.
        public let realm: String?
        /// What it gets.
        public let credential: HTTPCredential

        /// A credential for a host, for each of its ports and realms unless one is said.
        public init(host: String, port: UInt16? = nil, realm: String? = nil, credential: HTTPCredential) {
            self.host = host.lowercased()
            self.port = port
            self.realm = realm
            self.credential = credential
        }
    }

    /// The first that fits is used, once for each transfer and origin: what it refuses stands.
    public var credentials: [Entry] = []
    /// Whether passwords by Basic, and tokens, may go without TLS. Where not, that is `credential_requires_tls`.
    public var allowsPlaintext = false
    /// Asked before the credentials, once for each transfer and origin.
    public var handler: (@Sendable (AuthenticationChallenge) async -> ChallengeAnswer)?

    /// Nobody gets any.
    public init() {}

    func credential(for challenge: AuthenticationChallenge) -> HTTPCredential? {
        credentials.first { entry in
            entry.host == challenge.host && (entry.port == nil || entry.port == challenge.port)
                && (entry.realm == nil || challenge.schemes.contains { $0.realm == entry.realm })
        }?.credential
    }
}
