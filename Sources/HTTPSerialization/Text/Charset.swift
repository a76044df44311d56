import Glibc
import HTTPMessage

/// A charset in which text comes, by a name that HTTP's fields may give it (RFC 9110 §8.3.2).
///
/// The C library's `iconv` reads all of them but UTF-8. Which it is asked for is a closed list: those that web browsers read.
public struct Charset: Hashable, Sendable, CustomStringConvertible {
    /// As it is registered.
    public let name: String
    private let unitLength: Int

    /// UTF-8 (RFC 3629).
    public static let utf8 = Charset(name: "UTF-8", unitLength: 1)
    /// ISO 8859-1, to the letter and not as Windows-1252.
    public static let latin1 = Charset(name: "ISO-8859-1", unitLength: 1)
    static let utf16BigEndian = Charset(name: "UTF-16BE", unitLength: 2)
    static let utf16LittleEndian = Charset(name: "UTF-16LE", unitLength: 2)

    private init(name: String, unitLength: Int) {
        self.name = name
        self.unitLength = unitLength
    }

    /// - Returns: `nil` for a charset that is not on the list.
    public init?(_ label: String) {
        guard let name = CharsetName(label)?.text else { return nil }
        self.init(name: name, unitLength: name.hasPrefix("UTF-16") ? 2 : name.hasPrefix("UTF-32") ? 4 : 1)
    }

    /// The name.
    public var description: String { name }

    /// The text without its byte order mark.
    /// - Parameters:
    ///   - octets: the whole text, with or without a byte order mark.
    ///   - replacesFaults: whether bytes that stand for nothing become U+FFFD.
    /// - Throws: `TextFault` with the place of the first such byte, where they are not replaced.
    public func text(of octets: [UInt8], replacesFaults: Bool = false) throws(TextFault) -> String {
        if name == "UTF-8" { return try Self.utf8Text(octets, replacesFaults) }
        return try IconvDecoder.text(of: octets, in: name, unitLength: unitLength, replacesFaults: replacesFaults)
    }

    /// The text in this charset, without a byte order mark.
    /// - Returns: `nil` where the charset lacks a character of it.
    public func octets(of text: String) -> [UInt8]? {
        if name == "UTF-8" { return Array(text.utf8) }
        // Among the bytes of this charset these begin or end an escape, which iconv does not ask about when it writes.
        if name == "ISO-2022-JP", text.utf8.contains(where: { $0 == 0x0E || $0 == 0x0F || $0 == 0x1B }) { return nil }
        return IconvEncoder.octets(of: text, in: name)
    }

    /// The one that a byte order mark at the beginning names; it goes before what fields say.
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

/// The first byte that stands for nothing in a charset.
public struct TextFault: Error, Hashable, Sendable {
    /// In bytes from 0.
    public let offset: Int
}
