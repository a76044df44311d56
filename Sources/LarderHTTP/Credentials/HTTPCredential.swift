import HTTPMessage

/// Credentials for an origin or a proxy. Errors and descriptions never contain them.
public enum HTTPCredential: Equatable, Sendable {
    /// A name and password. They are used for Digest (RFC 7616) if the challenge offers Digest with a supported algorithm,
    /// otherwise for Basic (RFC 7617).
    case password(user: String, password: String)
    /// A token for Bearer (RFC 6750).
    case bearer(String)

    /// The value of Authorization for Basic or Bearer; `nil` for a name with a colon, which Basic cannot express (RFC 7617 §2).
    var fixedField: String? {
        switch self {
        case .bearer(let token): return "Bearer " + token
        case .password(let user, let password):
            return user.utf8.contains(ASCII.colon) ? nil : "Basic " + Base64.encode(Array("\(user):\(password)".utf8))
        }
    }
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
        /// Whether the credential is also sent without a challenge.
        public private(set) var isPreemptive = false

        /// A credential for a host; without `port` or `realm`, it is used for all ports or realms.
        public init(host: String, port: UInt16? = nil, realm: String? = nil, credential: HTTPCredential) {
            self.host = host.lowercased()
            self.port = port
            self.realm = realm
            self.credential = credential
        }

        fileprivate func isFor(host: String, port: UInt16, of uri: TargetURI) -> Bool {
            // Each port is an origin of its own, so a preemptive credential is for one port.
            let onlyPort = isPreemptive ? self.port ?? (uri.isSecure ? 443 : 80) : self.port
            return self.host == host && (onlyPort == nil || onlyPort == port)
        }

        /// A credential that is sent with every request to this origin, without waiting for a 401: Basic for a name and a password, or
        /// Bearer. For servers that answer 404 in place of 401.
        ///
        /// Other origins never get it, also after a redirect. It is sent over https only, unless `ChallengePolicy.allowsPlaintext` is
        /// set. A challenge of this origin is answered with it too, for example by Digest.
        /// - Parameters:
        ///   - host: a name or an IP address.
        ///   - port: `nil` for the default port of the scheme.
        ///   - credential: the credential for this origin.
        public static func preemptive(host: String, port: UInt16? = nil, credential: HTTPCredential) -> Entry {
            var entry = Entry(host: host, port: port, credential: credential)
            entry.isPreemptive = true
            return entry
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

    var hasPreemptive: Bool { credentials.contains { $0.isPreemptive } }

    /// The value of Authorization for a request without a challenge; `nil` if none may be sent.
    func preemptiveField(for uri: TargetURI) -> String? {
        guard uri.isSecure || allowsPlaintext else { return nil }
        return credentials.first { $0.isPreemptive && $0.isFor(host: uri.host, port: uri.port, of: uri) }?.credential.fixedField
    }

    func credential(for challenge: AuthenticationChallenge) -> HTTPCredential? {
        credentials.first { entry in
            entry.isFor(host: challenge.host, port: challenge.port, of: challenge.uri)
                && (entry.realm == nil || challenge.schemes.contains { $0.realm == entry.realm })
        }?.credential
    }
}
