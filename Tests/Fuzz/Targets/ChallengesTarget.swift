import HTTPMessage
import LarderHTTP

extension FuzzTarget {
    /// The value of WWW-Authenticate: what is understood is written and read the same, there is a bound to it, and the answer to it is a
    /// field's value, whatever the origin has put into realm, nonce and the others.
    package static let challenges = FuzzTarget("Challenges") { octets in
        let value = String(decoding: octets.filter(ASCII.isFieldValueCharacter), as: UTF8.self)
        let schemes = AuthenticationChallenge.Scheme.parse([value])
        if schemes.count > 16 { return "no end of schemes" }
        if AuthenticationChallenge.Scheme.parse([schemes.map(written).joined(separator: ", ")]) != schemes {
            return "schemes written are others"
        }
        for scheme in schemes {
            guard let answer = scheme.digestAnswer(user: "a \"b\\", password: "c", method: "GET", target: "/d", clientNonce: "e")
            else { continue }
            if !Array(answer.utf8).allSatisfy(ASCII.isFieldValueCharacter) { return "the answer is no field's value" }
        }
        return nil
    }

    private static func written(_ scheme: AuthenticationChallenge.Scheme) -> String {
        let parameters = scheme.parameters.sorted { $0.key < $1.key }.map { name, value in
            let escaped = value.unicodeScalars.map { $0 == "\"" || $0 == "\\" ? "\\\($0)" : "\($0)" }.joined()
            return "\(name)=\"\(escaped)\""
        }
        return "\(scheme.name) \(parameters.joined(separator: ", "))"
    }
}
