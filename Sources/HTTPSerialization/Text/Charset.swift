import Glibc
import HTTPMessage

/// A charset, by a name that HTTP fields use for it (RFC 9110 §8.3.2).
///
/// The C library's `iconv` converts all charsets except UTF-8. Only the charsets that web browsers support are allowed.
public struct Charset: Hashable, Sendable, CustomStringConvertible {
    /// The registered name.
    public let name: String
    private let unitLength: Int

    /// UTF-8 (RFC 3629).
    public static let utf8 = Charset(name: "UTF-8", unitLength: 1)
    /// ISO 8859-1 exactly, not Windows-1252 as in web browsers.
    public static let latin1 = Charset(name: "ISO-8859-1", unitLength: 1)
    static let utf16BigEndian = Charset(name: "UTF-16BE", unitLength: 2)
    static let utf16LittleEndian = Charset(name: "UTF-16LE", unitLength: 2)

    private init(name: String, unitLength: Int) {
        self.name = name
        self.unitLength = unitLength
    }

    /// - Returns: `nil` for a charset that is not in the list.
    public init?(_ label: String) {
        guard let name = CharsetName(label)?.text else { return nil }
        self.init(name: name, unitLength: name.hasPrefix("UTF-16") ? 2 : name.hasPrefix("UTF-32") ? 4 : 1)
    }

    /// The name.
    public var description: String { name }

    /// Decodes text; the result has no byte order mark.
    /// - Parameters:
    ///   - octets: the whole text, with or without a byte order mark.
    ///   - replacesFaults: whether invalid bytes become U+FFFD.
    /// - Throws: `TextFault` with the position of the first invalid byte, if invalid bytes are not replaced.
    public func text(of octets: [UInt8], replacesFaults: Bool = false) throws(TextFault) -> String {
        if name == "UTF-8" { return try Self.utf8Text(octets, replacesFaults) }
        return try IconvDecoder.text(of: octets, in: name, unitLength: unitLength, replacesFaults: replacesFaults)
    }

    /// Encodes text in this charset, without a byte order mark.
    /// - Returns: `nil` if the charset lacks a character of the text.
    public func octets(of text: String) -> [UInt8]? {
        if name == "UTF-8" { return Array(text.utf8) }
        // In ISO-2022-JP, these bytes begin or end an escape sequence; iconv does not check for them when it encodes.
        if name == "ISO-2022-JP", text.utf8.contains(where: { $0 == 0x0E || $0 == 0x0F || $0 == 0x1B }) { return nil }
        return IconvEncoder.octets(of: text, in: name)
    }

    /// The charset of the byte order mark at the beginning. A byte order mark has precedence over fields.
    public static func ofMark(in octets: [UInt8]) -> Charset? {
        if octets.starts(with: [0xEF, 0xBB, 0xBF]) { return .utf8 }
        if octets.starts(with: [0xFE, 0xFF]) { return .utf16BigEndian }
        if octets.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
        return nil
    }

    private static func utf8Text(_ octets: [UInt8], _ replacesFaults: Bool) throws(TextFault) -> String {
        let start = octets.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        if let text = String(validating: octets[start...], as: UTF8.self) { return text }
        if replacesFaults { return String(decoding: octets[start...], as: UTF8.self) }
        throw TextFault(offset: octets.withUnsafeBufferPointer { UTF8Fault.place(in: $0) ?? 0 })
    }
}

/// The first byte that is invalid in a charset.
public struct TextFault: Error, Hashable, Sendable {
    /// The position in bytes from 0.
    public let offset: Int
}
