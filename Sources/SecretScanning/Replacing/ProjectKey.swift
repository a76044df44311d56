internal import CLarderOpenSSL
import HTTPMessage

/// The key of a project, with which placeholders are computed. The key's file is not committed. Descriptions and errors never contain
/// the key.
package struct ProjectKey: Sendable {
    package static let length = 32

    private let octets: [UInt8]

    /// - Returns: `nil` for fewer than 32 bytes.
    package init?(octets: [UInt8]) {
        guard octets.count >= Self.length else { return nil }
        self.octets = octets
    }

    /// - Parameter text: the content of the key's file: 64 hexadecimal digits, optionally followed by a line feed or white space.
    package init?(text: [UInt8]) {
        let digits = text.prefix { ASCII.hexValue($0) != nil }
        guard text.dropFirst(digits.count).allSatisfy({ ASCII.isBlank($0) || $0 == ASCII.lf || $0 == ASCII.cr }),
            let octets = Hexadecimal.decode(String(decoding: digits, as: UTF8.self))
        else { return nil }
        self.init(octets: octets)
    }

    /// Makes a new key with OpenSSL's random number generator.
    package static func make() -> ProjectKey {
        var octets = [UInt8](repeating: 0, count: length)
        precondition(RAND_bytes(&octets, Int32(length)) == 1, "OpenSSL provides no random numbers")
        return ProjectKey(octets: octets)!  // the array has `length` bytes
    }

    /// The content of the key's file.
    package var text: [UInt8] { Array((Hexadecimal.encode(octets) + "\n").utf8) }

    /// HMAC-SHA-256 (RFC 2104) of a secret, in hexadecimal. It is the same in queries, JSON and fields, however the secret is escaped
    /// there.
    func code(of secret: [UInt8]) -> [UInt8] {
        let message = Array("larder-secret\0".utf8) + Self.unescaped(secret)
        var code = [UInt8](repeating: 0, count: 32)
        var count: UInt32 = 0
        let result = HMAC(EVP_sha256(), octets, Int32(octets.count), message, message.count, &code, &count)
        precondition(result != nil && count == 32, "every OpenSSL knows HMAC-SHA-256")
        return Array(Hexadecimal.encode(code).utf8)
    }

    /// Decodes `%41` (RFC 3986 §2.1) and `\/` (RFC 8259 §7); tokens contain no other characters that JSON escapes.
    private static func unescaped(_ secret: [UInt8]) -> [UInt8] {
        EscapedText.unescaped(secret.replacing([ASCII.backslash, ASCII.slash], with: [ASCII.slash]))
    }
}
