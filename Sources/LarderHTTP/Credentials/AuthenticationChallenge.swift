import HTTPMessage

/// A response that requests credentials (RFC 9110 §11.3, §11.7.1).
public struct AuthenticationChallenge: Sendable {
    /// One offered authentication scheme.
    public struct Scheme: Equatable, Sendable {
        /// The scheme's name, in lower case.
        public let name: String
        /// The parameters, with their names in lower case. If a name is repeated, the first value is used.
        public internal(set) var parameters: [String: String] = [:]

        /// The protection space within the origin (RFC 9110 §11.5).
        public var realm: String? { parameters["realm"] }
    }

    /// The status of the response: 401, or 407 from a proxy.
    public let status: Int
    /// The host of the origin or proxy that sent the challenge.
    public let host: String
    /// The port of the origin or proxy that sent the challenge.
    public let port: UInt16
    /// The URI of the request.
    public let uri: TargetURI
    /// The offered schemes, in the order received.
    public let schemes: [Scheme]

    /// Whether a proxy sent the challenge.
    public var isOfProxy: Bool { status == 407 }
}

extension AuthenticationChallenge.Scheme {
    static let limit = 16

    /// Parses the values of WWW-Authenticate or Proxy-Authenticate. Anything that is not a challenge is skipped.
    package static func parse(_ values: [String]) -> [AuthenticationChallenge.Scheme] {
        values.flatMap { value in
            var reader = ChallengeReader(Array(value.utf8))
            return reader.schemes()
        }.prefix(limit).map { $0 }
    }
}

/// A list of challenges separated by commas: `challenge = auth-scheme [ 1*SP ( token68 / #auth-param ) ]` (RFC 9110 §11.3).
private struct ChallengeReader {
    private let octets: [UInt8]
    private var index = 0

    init(_ octets: [UInt8]) { self.octets = octets }

    mutating func schemes() -> [AuthenticationChallenge.Scheme] {
        var schemes: [AuthenticationChallenge.Scheme] = []
        while true {
            skip { $0 == ASCII.comma || ASCII.isBlank($0) }
            guard index < octets.count else { return schemes }
            guard let word = token() else { return schemes }
            let behind = index
            skip(ASCII.isBlank)
            if current == ASCII.equals, !schemes.isEmpty, let value = parameterValue() {
                let name = word.lowercased()
                let last = schemes.count - 1
                if schemes[last].parameters[name] == nil { schemes[last].parameters[name] = value }
                continue
            }
            index = behind
            schemes.append(AuthenticationChallenge.Scheme(name: word.lowercased()))
            skipToken68()
        }
    }

    private var current: UInt8? { index < octets.count ? octets[index] : nil }

    private mutating func skip(_ belongs: (UInt8) -> Bool) { while let octet = current, belongs(octet) { index += 1 } }

    private mutating func token() -> String? {
        let start = index
        skip(ASCII.isTokenCharacter)
        return start == index ? nil : String(decoding: octets[start..<index], as: UTF8.self)
    }

    private mutating func parameterValue() -> String? {
        index += 1
        skip(ASCII.isBlank)
        guard current == ASCII.quote else { return token() }
        index += 1
        var value: [UInt8] = []
        while let octet = current, octet != ASCII.quote {
            index += 1
            if octet == ASCII.backslash, let escaped = current {
                value.append(escaped)
                index += 1
            } else {
                value.append(octet)
            }
        }
        guard current == ASCII.quote else { return nil }
        index += 1
        return String(decoding: value, as: UTF8.self)
    }

    /// The token68 that some schemes have instead of parameters. It is not used.
    private mutating func skipToken68() {
        let start = index
        skip(ASCII.isBlank)
        skip { ASCII.isTokenCharacter($0) || $0 == ASCII.slash }
        let hasLetters = index > start
        skip { $0 == ASCII.equals }
        let end = index
        skip(ASCII.isBlank)
        // A token68 is followed by a comma or by the end of the value. If anything else follows, the text is the name of the
        // first parameter.
        if hasLetters, current == nil || (current == ASCII.comma && end > start) { return }
        index = start
    }
}
