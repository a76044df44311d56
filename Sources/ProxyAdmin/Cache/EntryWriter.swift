import HTTPCaching
import HTTPMessage
import ResponseStore
import TextCoding

/// The output form of store contents: text for people, one JSON array, or one JSON object per line.
package enum CacheOutput: String, CaseIterable, Sendable { case text, json, ndjson }

/// Writes a listing's entries, one per line. No byte that an origin server chose reaches a terminal as a control character (threat T43).
struct EntryWriter {
    let form: CacheOutput
    /// Ages and freshness are computed for this time.
    let time: Timestamp
    private var isFirst = true

    init(_ form: CacheOutput, at time: Timestamp) {
        self.form = form
        self.time = time
    }

    mutating func write(_ entry: borrowing StoredEntry, into output: inout [UInt8]) {
        switch form {
        case .text: writeText(entry, into: &output)
        case .ndjson: writeJSON(entry, into: &output)
        case .json:
            output.append(isFirst ? "[\n" : ",\n")
            writeJSON(entry, into: &output)
            output.removeLast()
        }
        isFirst = false
    }

    func writeEnd(into output: inout [UInt8]) {
        if form == .json { output.append(isFirst ? "[]\n" : "\n]\n") }
    }

    /// A line of the listing: `200 fresh 1.2 KiB 3h text/html http://example.com/`.
    private func writeText(_ entry: borrowing StoredEntry, into output: inout [UInt8]) {
        output.append(decimal: UInt64(entry.facts.status.code))
        output.append(entry.isPartial ? "  part " : entry.facts.isFresh(at: time) ? "  fresh" : "  stale")
        output.append(padding: EntryText.size(entry.bodyLength), to: 11)
        output.append(padding: EntryText.age(UInt64(entry.facts.currentAge(at: time).seconds)), to: 6)
        output.append("  ")
        let type = entry.contentType.prefix { $0 != ASCII.semicolon && $0 != ASCII.space }
        if type.isEmpty { output.append(UInt8(ascii: "-")) } else { EntryText.append(visible: type, into: &output) }
        output.append("  ")
        EntryText.append(visible: entry.url[...], into: &output)
        for tag in entry.tags {
            output.append("  #")
            EntryText.append(visible: Array(tag.utf8)[...], into: &output)
        }
        output.append(ASCII.lf)
    }

    private func writeJSON(_ entry: borrowing StoredEntry, into output: inout [UInt8]) {
        output.append("{\"row\":")
        output.append(decimal: UInt64(entry.row))
        output.append(",\"url\":")
        EntryText.append(quoted: entry.url[...], into: &output)
        output.append(",\"status\":")
        output.append(decimal: UInt64(entry.facts.status.code))
        output.append(",\"type\":")
        EntryText.append(quoted: entry.contentType[...], into: &output)
        output.append(",\"size\":")
        output.append(decimal: entry.bodyLength)
        output.append(",\"age\":")
        output.append(decimal: UInt64(entry.facts.currentAge(at: time).seconds))
        output.append(",\"lifetime\":")
        output.append(decimal: UInt64(entry.facts.freshnessLifetime.seconds))
        output.append(entry.facts.isFresh(at: time) ? ",\"fresh\":true" : ",\"fresh\":false")
        output.append(entry.isVariant ? ",\"variant\":true" : ",\"variant\":false")
        output.append(entry.isPartial ? ",\"partial\":true" : ",\"partial\":false")
        output.append(entry.isMemoryOnly ? ",\"memory_only\":true" : ",\"memory_only\":false")
        output.append(",\"tags\":[")
        for (index, tag) in entry.tags.enumerated() {
            if index > 0 { output.append(ASCII.comma) }
            EntryText.append(quoted: Array(tag.utf8)[...], into: &output)
        }
        output.append("]}\n")
    }
}

/// Appends parts of the text that describes a stored response.
package enum EntryText {
    /// Appends visible ASCII unchanged, and percent-encodes all other bytes.
    static func append(visible bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        for byte in bytes {
            if byte > 0x20, byte < 0x7F { output.append(byte) } else { PercentEncoding.append(encoded: byte, into: &output) }
        }
    }

    /// Appends a JSON string with the same text as `append(visible:into:)`, except that spaces stay.
    static func append(quoted bytes: ArraySlice<UInt8>, into output: inout [UInt8]) {
        var visible: [UInt8] = []
        visible.reserveCapacity(bytes.count)
        for byte in bytes {
            if byte >= 0x20, byte < 0x7F { visible.append(byte) } else { PercentEncoding.append(encoded: byte, into: &visible) }
        }
        output += JSONText.quoted(String(decoding: visible, as: UTF8.self)).utf8
    }

    /// Appends a size: `999 B`, `1.2 KiB`, `3.0 GiB`.
    package static func size(_ count: UInt64) -> String {
        if count < 1024 { return "\(count) B" }
        // `count` is not multiplied before the division: the product could overflow for a length from a file.
        var tenths = count / 1024 * 10 + count % 1024 * 10 / 1024
        for unit in ["KiB", "MiB", "GiB"] {
            if tenths < 10_240 { return "\(tenths / 10).\(tenths % 10) \(unit)" }
            tenths /= 1024
        }
        return "\(tenths / 10).\(tenths % 10) TiB"
    }

    /// Appends a duration in its largest unit: `59s`, `3m`, `23h`, `12d`.
    static func age(_ seconds: UInt64) -> String {
        switch seconds {
        case ..<60: "\(seconds)s"
        case ..<3600: "\(seconds / 60)m"
        case ..<86_400: "\(seconds / 3600)h"
        default: "\(seconds / 86_400)d"
        }
    }
}

extension [UInt8] {
    /// Appends the text, right-aligned to the width with at least one space before it.
    fileprivate mutating func append(padding text: String, to width: Int) {
        let count = text.utf8.count
        append(contentsOf: repeatElement(ASCII.space, count: count < width ? width - count : 1))
        append(contentsOf: text.utf8)
    }
}
