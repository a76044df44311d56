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
        let label = String(decoding: label.utf8.map(ASCII.lowercased), as: UTF8.self)
        let name: String
        if let known = Self.names[label] {
            name = known
        } else if Self.isNumbered(label) {
            name = String(decoding: label.utf8.map { ASCII.isAlpha($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
        } else {
            return nil
        }
        self.init(name: name, unitLength: name.hasPrefix("UTF-16") ? 2 : name.hasPrefix("UTF-32") ? 4 : 1)
    }

    /// The name.
    public var description: String { name }

    /// The text without its byte order mark.
    /// - Parameter replacesFaults: whether octets that stand for nothing become U+FFFD.
    /// - Throws: `TextFault` with the place of the first such octet, where they are not replaced.
    public func text(of octets: [UInt8], replacesFaults: Bool = false) throws(TextFault) -> String {
        if name == "UTF-8" { return try Self.utf8Text(octets, replacesFaults) }
        return try IconvDecoder.text(of: octets, in: name, unitLength: unitLength, replacesFaults: replacesFaults)
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

    /// `iso-8859-2` and `windows-1252`, with all their siblings.
    private static func isNumbered(_ label: String) -> Bool {
        for (prefix, numbers) in [("iso-8859-", 1...16), ("windows-", 1250...1258)] where label.hasPrefix(prefix) {
            return Int(label.dropFirst(prefix.count)).map { numbers.contains($0) && "\($0)" == label.dropFirst(prefix.count) }
                ?? false
        }
        return false
    }

    /// Without an order of octets UTF-16 is big-endian (RFC 2781 §4.3).
    private static let names: [String: String] = [
        "utf-8": "UTF-8", "utf8": "UTF-8", "us-ascii": "US-ASCII", "ascii": "US-ASCII", "latin1": "ISO-8859-1",
        "l1": "ISO-8859-1",
        "iso8859-1": "ISO-8859-1", "iso_8859-1": "ISO-8859-1", "utf-16": "UTF-16BE", "utf-16be": "UTF-16BE",
        "utf-16le": "UTF-16LE",
        "utf-32be": "UTF-32BE", "utf-32le": "UTF-32LE", "cp1252": "WINDOWS-1252", "cp1251": "WINDOWS-1251", "koi8-r": "KOI8-R",
        "koi8-u": "KOI8-U", "ibm866": "IBM866", "cp866": "IBM866", "macintosh": "MACINTOSH", "tis-620": "TIS-620",
        "windows-874": "WINDOWS-874", "shift_jis": "SHIFT_JIS", "shift-jis": "SHIFT_JIS", "sjis": "SHIFT_JIS",
        "windows-31j": "WINDOWS-31J", "euc-jp": "EUC-JP", "iso-2022-jp": "ISO-2022-JP", "gbk": "GBK", "gb2312": "GB2312",
        "gb18030": "GB18030", "big5": "BIG5", "big5-hkscs": "BIG5-HKSCS", "euc-kr": "EUC-KR", "ks_c_5601-1987": "EUC-KR",
    ]
}

/// The first octet that stands for nothing in a charset.
public struct TextFault: Error, Hashable, Sendable {
    /// In octets from 0.
    public let offset: Int
}
