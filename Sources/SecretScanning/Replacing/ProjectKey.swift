internal import COpenSSL
import HTTPMessage

/// The key of a project, under which secrets become placeholders. It stands in a file that is not committed; it is in no description and in no
/// error.
package struct ProjectKey: Sendable {
    package static let length = 32

    private let octets: [UInt8]

    /// - Returns: `nil` for fewer than 32 bytes.
    package init?(octets: [UInt8]) {
        guard octets.count >= Self.length else { return nil }
        self.octets = octets
    }

    /// - Parameter text: of its file: 64 hexadecimal digits and a line feed, or blanks, behind.
    package init?(text: [UInt8]) {
        let digits = text.prefix { ASCII.hexValue($0) != nil }
        guard text.dropFirst(digits.count).allSatisfy({ ASCII.isBlank($0) || $0 == ASCII.lf || $0 == ASCII.cr }),
            let octets = Hexadecimal.decode(String(decoding: digits, as: UTF8.self))
        else { return nil }
        self.init(octets: octets)
    }

    /// A new one, of OpenSSL's chance.
    package static func make() -> ProjectKey {
        var octets = [UInt8](repeating: 0, count: length)
        precondition(RAND_bytes(&octets, Int32(length)) == 1, "OpenSSL provides no random numbers")
        return ProjectKey(octets: octets)!  // as long as it has to be
    }

    /// What its file holds.
    package var text: [UInt8] { Array((Hexadecimal.encode(octets) + "\n").utf8) }

    /// HMAC-SHA-256 (RFC 2104) of a secret, in hexadecimal. In a query, in JSON and in a field it is the same one, however it is escaped there.
    func code(of secret: [UInt8]) -> [UInt8] {
        let message = Array("larder-secret\0".utf8) + Self.unescaped(secret)
        var code = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let result = HMAC(EVP_sha256(), octets, Int32(octets.count), message, message.count, &code, &count)
        precondition(result != nil && count == 32, "every OpenSSL knows HMAC-SHA-256")
        return Array(Hexadecimal.encode(code).utf8)
    }

    /// Without `%41` (RFC 3986 §2.1) and `\/` (RFC 8259 §7): what else JSON escapes stands in no token.
    private static func unescaped(_ secret: [UInt8]) -> [UInt8] {
        EscapedText.unescaped(secret.replacing([ASCII.backslash, ASCII.slash], with: [ASCII.slash]))
    }
}
