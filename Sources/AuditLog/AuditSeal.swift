import HTTPMessage
import ServerTrust

/// Names a seal of the audit log: the number of its line, and the hash of that line. As text, `1234:<64 hexadecimal digits>`.
package struct AuditSeal: Equatable, Sendable, CustomStringConvertible {
    package let number: UInt64
    package let hash: SHA256Digest

    init(number: UInt64, hash: SHA256Digest) {
        self.number = number
        self.hash = hash
    }

    /// - Returns: `nil` if the text does not have this form.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt64(parts[0]), number > 0, let octets = Hexadecimal.decode(String(parts[1])),
            let hash = SHA256Digest(octets)
        else { return nil }
        self.number = number
        self.hash = hash
    }

    package var description: String { "\(number):\(Hexadecimal.encode(hash.octets))" }

    /// The bytes that a seal signs: its line up to the signature, with a prefix, so that the signature is not valid for another purpose.
    static func message(_ line: some Sequence<UInt8>) -> [UInt8] { Array("larder-audit-seal-1\0".utf8) + line }
}
