import HTTPMessage
import ProxyCore

/// The traces of one loop's latest requests: so many, and never more than so many octets. Confined to its loop; others ask the loop.
///
/// Records are trivial and have a place each, texts stand one behind the other in a block of octets; both are written round and
/// round. A record whose texts were overwritten is gone with them. Nothing is allocated but the two blocks, of which the system
/// gives memory only as they are first written.
final class TraceRing {
    private let records: UnsafeMutablePointer<TraceRecord>
    private let recordLimit: Int
    private let texts: UnsafeMutableRawBufferPointer
    /// Records and octets of text ever written.
    private var recordCount = 0
    private var textCount: UInt64 = 0

    /// The longest of each text; the rest is cut off.
    static let methodLimit = 32
    static let urlLimit = 1024
    static let ruleNamesLimit = 256
    static let overridesLimit = 256

    /// - Parameters:
    ///   - count: how many at most; 0 keeps none.
    ///   - byteCount: for records and texts together.
    init(count: Int, byteCount: Int) {
        let stride = MemoryLayout<TraceRecord>.stride
        let fitting = max(0, byteCount) * 3 / 4 / stride
        recordLimit = min(count, fitting)
        records = .allocate(capacity: recordLimit)
        let textLimit = recordLimit == 0 ? 0 : max(Self.longestTexts, byteCount - recordLimit * stride)
        texts = .allocate(byteCount: textLimit, alignment: 16)
    }

    deinit {
        records.deallocate()
        texts.deallocate()
    }

    private static let longestTexts = methodLimit + urlLimit + ruleNamesLimit + overridesLimit

    var isOff: Bool { recordLimit == 0 }

    /// Keeps a trace, in the place of the oldest where there is no room.
    /// - Parameters:
    ///   - rules: names, parted by line feeds.
    ///   - overrides: each a word of the origin server's, a blank and a rule's name, parted by line feeds.
    func note(
        _ record: consuming TraceRecord, method: Span<UInt8>, url: Span<UInt8>, rules: Span<UInt8>, overrides: Span<UInt8>
    ) {
        if isOff { return }
        let counts = (
            method: min(method.count, Self.methodLimit), url: min(url.count, Self.urlLimit),
            rules: min(rules.count, Self.ruleNamesLimit), overrides: min(overrides.count, Self.overridesLimit)
        )
        record.methodCount = UInt8(truncatingIfNeeded: counts.method)
        record.urlCount = UInt16(truncatingIfNeeded: counts.url)
        record.rulesCount = UInt16(truncatingIfNeeded: counts.rules)
        record.overridesCount = UInt16(truncatingIfNeeded: counts.overrides)
        record.textStart = makeRoom(record.textCount)
        var place = Int(record.textStart % UInt64(texts.count))
        write(method, counts.method, at: &place)
        write(url, counts.url, at: &place)
        write(rules, counts.rules, at: &place)
        write(overrides, counts.overrides, at: &place)
        (records + recordCount % recordLimit).initialize(to: record)
        recordCount &+= 1
    }

    /// The trace of this request, if it is still there; of several the latest.
    func find(_ id: UInt64) -> TracedRequest? {
        for number in stride(from: recordCount - 1, through: max(0, recordCount - recordLimit), by: -1) {
            let record = records[number % recordLimit]
            guard textCount - record.textStart <= UInt64(texts.count) else { return nil }
            if record.id == id { return read(record) }
        }
        return nil
    }

    /// How many can be found.
    var count: Int {
        var count = 0
        for number in max(0, recordCount - recordLimit)..<recordCount
        where textCount - records[number % recordLimit].textStart <= UInt64(texts.count) { count += 1 }
        return count
    }

    /// The texts of one record stand in one piece: what is left before the block's end may be skipped.
    private func makeRoom(_ count: Int) -> UInt64 {
        let place = Int(textCount % UInt64(texts.count))
        if place + count > texts.count { textCount &+= UInt64(texts.count - place) }
        let start = textCount
        textCount &+= UInt64(count)
        return start
    }

    private func write(_ text: Span<UInt8>, _ count: Int, at place: inout Int) {
        text.withUnsafeBytes { source in
            UnsafeMutableRawBufferPointer(rebasing: texts[place..<place + count]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: source[..<count]))
        }
        place += count
    }

    private func read(_ record: TraceRecord) -> TracedRequest {
        var place = Int(record.textStart % UInt64(texts.count))
        func text(_ count: Int) -> String {
            defer { place += count }
            return String(decoding: texts[place..<place + count], as: UTF8.self)
        }
        return TracedRequest(
            id: record.id, trace: record.trace, durationMicroseconds: record.durationMicroseconds,
            connectMicroseconds: record.connectMicroseconds, firstByteMicroseconds: record.firstByteMicroseconds,
            bytesSent: record.bytesSent, reusedConnection: record.reusedConnection, method: text(Int(record.methodCount)),
            url: text(Int(record.urlCount)), rules: text(Int(record.rulesCount)).split(separator: "\n").map(String.init),
            overrides: text(Int(record.overridesCount)).split(separator: "\n").map(Self.override))
    }

    private static func override(_ line: Substring) -> RuleOverride {
        let word = line.prefix { $0 != " " }
        return RuleOverride(rule: String(line.dropFirst(word.count + 1)), word: String(word))
    }
}
