import HTTPMessage
import ServerTrust

/// Answers a Digest challenge (RFC 7616) with `qop=auth`, or without `qop` for old servers.
struct DigestAccess: Sendable {
    private enum Algorithm { case sha256, md5 }

    private let algorithm: Algorithm
    private let algorithmName: String?
    private let isSession: Bool
    private let realm: String
    private let nonce: String
    private let opaque: String?
    private let usesQuality: Bool
    private let hashesUser: Bool
    private let user: String
    private let password: String

    /// - Returns: `nil` for an unknown algorithm, and for challenges whose `qop` does not include `auth`.
    init?(_ scheme: AuthenticationChallenge.Scheme, user: String, password: String) {
        guard scheme.name == "digest", let realm = scheme.realm, let nonce = scheme.parameters["nonce"] else { return nil }
        let name = scheme.parameters["algorithm"]
        var base = (name ?? "MD5").uppercased()
        isSession = base.hasSuffix("-SESS")
        if isSession { base.removeLast(5) }
        switch base {
        case "SHA-256": algorithm = .sha256
        case "MD5": algorithm = .md5
        default: return nil
        }
        let qualities = scheme.parameters["qop"]?.split(separator: ",").map { $0.trimmingBlanks.lowercased() }
        if let qualities, !qualities.contains("auth") { return nil }
        usesQuality = qualities != nil
        algorithmName = name
        self.realm = realm
        self.nonce = nonce
        opaque = scheme.parameters["opaque"]
        hashesUser = scheme.parameters["userhash"]?.lowercased() == "true"
        self.user = user
        self.password = password
    }

    /// The algorithm's rank, to choose among the algorithms that a server offers; a higher rank is stronger.
    var strength: Int { algorithm == .sha256 ? 2 : 1 }

    /// The value of the Authorization field.
    /// - Parameters:
    ///   - target: the request target, as in the request line.
    ///   - count: number of requests with this nonce, from 1.
    ///   - clientNonce: a random value, new for each request.
    func answer(method: String, target: String, count: UInt32, clientNonce: String) -> String {
        var secret = digest("\(user):\(realm):\(password)")
        if isSession { secret = digest("\(secret):\(nonce):\(clientNonce)") }
        let request = digest("\(method):\(target)")
        let number = Hexadecimal.encode(padded: count)
        let response =
            usesQuality
            ? digest("\(secret):\(nonce):\(number):\(clientNonce):auth:\(request)") : digest("\(secret):\(nonce):\(request)")
        var parts = [
            "username=\(Self.quoted(hashesUser ? digest("\(user):\(realm)") : user))", "realm=\(Self.quoted(realm))",
            "uri=\(Self.quoted(target))",
        ]
        if let algorithmName { parts.append("algorithm=\(algorithmName)") }
        parts.append("nonce=\(Self.quoted(nonce))")
        if usesQuality { parts += ["nc=\(number)", "cnonce=\(Self.quoted(clientNonce))", "qop=auth"] }
        if isSession, !usesQuality { parts.append("cnonce=\(Self.quoted(clientNonce))") }
        parts.append("response=\"\(response)\"")
        if let opaque { parts.append("opaque=\(Self.quoted(opaque))") }
        if hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private func digest(_ text: String) -> String {
        let octets = Array(text.utf8)
        switch algorithm {
        case .sha256: return Hexadecimal.encode(SHA256Digest(of: octets).octets)
        case .md5: return Hexadecimal.encode(MD5.digest(of: octets))
        }
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}

extension AuthenticationChallenge.Scheme {
    /// The answer to this challenge; `nil` if it is not a supported Digest challenge.
    package func digestAnswer(user: String, password: String, method: String, target: String, clientNonce: String) -> String? {
        DigestAccess(self, user: user, password: password)?.answer(
            method: method, target: target, count: 1, clientNonce: clientNonce)
    }
}

extension StringProtocol {
    /// The text without leading and trailing whitespace (RFC 9110 §5.6.3).
    var trimmingBlanks: String {
        let octets = Array(utf8)
        let bounds = octets.span.trimmedBounds(in: 0..<octets.count)
        return String(decoding: octets[bounds], as: UTF8.self)
    }
}
