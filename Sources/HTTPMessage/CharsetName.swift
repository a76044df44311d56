/// The name of a charset (RFC 9110 §8.3.2) from the closed list of charsets that web browsers support.
package struct CharsetName: Hashable, Sendable {
    package let text: String

    /// - Parameter label: a charset label from a field, in any case.
    /// - Returns: `nil` for a charset that is not in the list.
    package init?(_ label: String) {
        let label = String(decoding: label.utf8.map(ASCII.lowercased), as: UTF8.self)
        if let known = Self.names[label] {
            text = known
        } else if Self.isNumbered(label) {
            text = String(decoding: label.utf8.map { ASCII.isAlpha($0) ? $0 & 0xDF : $0 }, as: UTF8.self)
        } else {
            return nil
        }
    }

    /// The labels for suggestions: all labels of the list, and one label of each numbered family.
    package static var labels: [String] { names.keys.sorted() + ["iso-8859-1", "windows-1252"] }

    /// Whether this charset belongs to a numbered family: `iso-8859-1` to `iso-8859-16`, or `windows-1250` to `windows-1258`.
    private static func isNumbered(_ label: String) -> Bool {
        for (prefix, numbers) in [("iso-8859-", 1...16), ("windows-", 1250...1258)] where label.hasPrefix(prefix) {
            return Int(label.dropFirst(prefix.count)).map { numbers.contains($0) && "\($0)" == label.dropFirst(prefix.count) }
                ?? false
        }
        return false
    }

    /// Without a byte order mark, the label `utf-16` means big-endian (RFC 2781 §4.3).
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
