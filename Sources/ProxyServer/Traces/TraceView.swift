import HTTPMessage
import ProxyCore

/// One trace in its ring, read without a copy of its texts. Valid only until the ring is written again.
struct TraceView: ~Copyable {
    let record: TraceRecord
    let number: Int
    private let loop: Int
    private let texts: UnsafeRawBufferPointer

    /// - Parameter texts: the ring's bytes from the record's first text.
    init(_ record: TraceRecord, loop: Int, number: Int, texts: UnsafeRawBufferPointer) {
        self.record = record
        self.loop = loop
        self.number = number
        self.texts = texts
    }

    var place: TracePlace { TracePlace(finishedAt: record.finishedAt, loop: loop, number: number) }

    var method: Slice<UnsafeRawBufferPointer> { texts[..<Int(record.methodCount)] }

    var url: Slice<UnsafeRawBufferPointer> {
        let start = Int(record.methodCount)
        return texts[start..<start + Int(record.urlCount)]
    }

    /// The names of the matching rules, separated by line feeds.
    var rules: Slice<UnsafeRawBufferPointer> {
        let start = Int(record.methodCount) + Int(record.urlCount)
        return texts[start..<start + Int(record.rulesCount)]
    }

    /// The host of the target, without its port; empty if the target has none.
    var host: Slice<UnsafeRawBufferPointer> {
        var rest = url
        if let colon = rest.firstIndex(of: UInt8(ascii: ":")), rest[colon...].starts(with: "://".utf8) {
            rest = rest[(colon + 3)...]
        }
        rest = rest.prefix { $0 != ASCII.slash && $0 != ASCII.question && $0 != UInt8(ascii: "#") }
        if let at = rest.lastIndex(of: UInt8(ascii: "@")) { rest = rest[(at + 1)...] }
        if let colon = rest.lastIndex(of: ASCII.colon), rest[(colon + 1)...].allSatisfy({ ASCII.isDigit($0) }) {
            rest = rest[..<colon]
        }
        return rest
    }
}
