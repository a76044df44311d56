import HTTPMessage

/// Credentials for an origin or a proxy. Errors and descriptions never contain them.
public enum HTTPCredential: Equatable, Sendable {
    /// A name and password. They are used for Digest (RFC 7616) if the challenge offers Digest with a supported algorithm,
    /// otherwise for Basic (RFC 7617).
    case password(user: String, password: String)
    /// A token for Bearer (RFC 6750).
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

/// How a session answers a challenge.
public enum ChallengeAnswer: Sendable {
    /// The request is sent again with this credential; if no offered scheme accepts it, the caller gets the response.
    case credential(HTTPCredential)
    /// The session uses its own credential for the host, if it has one, as it does without a handler.
    case standard
    /// The caller gets the response (401 or 407).
    case reject
    /// The transfer fails with `challenge_rejected`.
    case cancel
    /// The transfer fails with this error.
    case error(SessionError)
}

/// Which credentials are sent in answer to challenges.
public struct ChallengePolicy: Sendable {
    /// A credential, with the host it is for.
    public struct Entry: Sendable {
        /// The host: a name in lower case, or an IP address.
        public let host: String
        /// The port; `nil` for every port.
        public let port: UInt16?
        /// The realm; `nil` for every realm.
        public let realm: String?
        /// The credential for this host.
        public let credential: HTTPCredential

        /// A credential for a host; without `port` or `realm`, it is used for all ports or realms.
        public init(host: String, port: UInt16? = nil, realm: String? = nil, credential: HTTPCredential) {
            self.host = host.lowercased()
            self.port = port
            self.realm = realm
            self.credential = credential
        }
    }

    /// The first matching entry is used, once for each transfer and origin. If that credential is refused, the caller gets the
    /// response.
    public var credentials: [Entry] = []
    /// Whether Basic passwords and bearer tokens may be sent without TLS. If not, the transfer fails with `credential_requires_tls`.
    public var allowsPlaintext = false
    /// Called before `credentials` is searched, once for each transfer and origin.
    public var handler: (@Sendable (AuthenticationChallenge) async -> ChallengeAnswer)?

    /// A policy without credentials.
    public init() {}

    func credential(for challenge: AuthenticationChallenge) -> HTTPCredential? {
        credentials.first { entry in
            entry.host == challenge.host && (entry.port == nil || entry.port == challenge.port)
                && (entry.realm == nil || challenge.schemes.contains { $0.realm == entry.realm })
        }?.credential
    }
}
