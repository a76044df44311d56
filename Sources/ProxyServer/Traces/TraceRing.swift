import CLarderLinux
import HTTPMessage
import ProxyCore

/// The traces of one loop's latest requests, up to a number and a size in bytes. Confined to its loop; other threads query the loop.
///
/// Records are trivial and have fixed slots; their texts are in a separate ring. A record whose texts were overwritten is lost too. Only
/// the two blocks are allocated, and the system provides their memory when it is first written.
final class TraceRing {
    private let loop: Int
    private let records: UnsafeMutablePointer<TraceRecord>
    private let recordLimit: Int
    private var texts: TextRing
    /// The total number of records written.
    private(set) var recordCount = 0
    /// The slot of the next record.
    private var nextRecord = 0

    /// The maximum length of each kind of text, in bytes; longer texts are truncated.
    static let methodLimit = 32
    static let urlLimit = 1024
    static let keyLimit = 1024
    static let ruleNamesLimit = 256
    static let overridesLimit = 256

    /// - Parameters:
    ///   - loop: the index of the loop.
    ///   - count: the maximum number; 0 keeps none.
    ///   - byteCount: for records and texts together.
    init(loop: Int = 0, count: Int, byteCount: Int) {
        self.loop = loop
        let stride = MemoryLayout<TraceRecord>.stride
        let fitting = max(0, byteCount) * 3 / 4 / stride
        recordLimit = min(count, fitting)
        records = .allocate(capacity: recordLimit)
        let textLimit = recordLimit == 0 ? 0 : max(Self.longestTexts, byteCount - recordLimit * stride)
        texts = TextRing(byteCount: textLimit)
    }

    deinit { records.deallocate() }

    /// The length of the texts of most traces, in bytes.
    private static let usualTextCount = 2 * larder_cache_line

    private static let longestTexts = methodLimit + urlLimit + keyLimit + ruleNamesLimit + overridesLimit

    var isOff: Bool { recordLimit == 0 }

    /// Keeps a trace, in place of the oldest if there is no space.
    /// - Parameters:
    ///   - rules: names, separated by line feeds.
    ///   - overrides: each a directive of the origin server, a space and a rule's name; separated by line feeds.
    func note(
        _ record: TraceRecord, method: Span<UInt8>, url: Span<UInt8>, key: Span<UInt8>, rules: Span<UInt8>, overrides: Span<UInt8>
    ) {
        if isOff { return }
        let place = records + nextRecord
        let oldest = recordCount >= recordLimit ? place.pointee.textStart : nil
        place.initialize(to: record)
        place.pointee.methodCount = UInt8(truncatingIfNeeded: min(method.count, Self.methodLimit))
        place.pointee.urlCount = UInt16(truncatingIfNeeded: min(url.count, Self.urlLimit))
        place.pointee.rulesCount = UInt16(truncatingIfNeeded: min(rules.count, Self.ruleNamesLimit))
        place.pointee.overridesCount = UInt16(truncatingIfNeeded: min(overrides.count, Self.overridesLimit))
        let isKeyURL = key.isSame(as: url)
        place.pointee.isKeyURL = isKeyURL
        place.pointee.keyCount = isKeyURL ? 0 : UInt16(truncatingIfNeeded: min(key.count, Self.keyLimit))
        texts.makeRoom(place.pointee.textCount, keepingFrom: oldest)
        place.pointee.textStart = texts.count
        texts.write(method, Int(place.pointee.methodCount))
        texts.write(url, Int(place.pointee.urlCount))
        texts.write(rules, Int(place.pointee.rulesCount))
        texts.write(overrides, Int(place.pointee.overridesCount))
        texts.write(key, Int(place.pointee.keyCount))
        recordCount &+= 1
        nextRecord &+= 1
        if nextRecord == recordLimit { nextRecord = 0 }
        fetchNext()
    }

    /// Prefetches the memory of the next trace: without the prefetch, the write would wait, because that memory is in none of the
    /// processor's caches.
    private func fetchNext() {
        larder_prefetch(UInt(bitPattern: records + nextRecord), MemoryLayout<TraceRecord>.size)
        larder_prefetch(UInt(bitPattern: texts.next), Self.usualTextCount)
    }

    /// The trace of this request, if it is still kept; the latest of several.
    func find(_ id: UInt64) -> TracedRequest? {
        for number in stride(from: recordCount - 1, through: max(0, recordCount - recordLimit), by: -1) {
            let record = records[number % recordLimit]
            guard texts.holds(record.textStart) else { return nil }
            if record.id == id { return read(record, number) }
        }
        return nil
    }

    /// The latest trace with this method and key for which it was decided whether to store the response. A key that is kept
    /// without its query never matches.
    func latestStorage(method: [UInt8], key: [UInt8]) -> TracedRequest? {
        for number in stride(from: recordCount - 1, through: max(0, recordCount - recordLimit), by: -1) {
            let record = records[number % recordLimit]
            guard texts.holds(record.textStart) else { return nil }
            if record.trace.storage != nil, hasMethod(method, key: key, record) { return read(record, number) }
        }
        return nil
    }

    private func hasMethod(_ method: [UInt8], key: [UInt8], _ record: TraceRecord) -> Bool {
        let keyCount = Int(record.isKeyURL ? record.urlCount : record.keyCount)
        guard !record.isKeyCut, Int(record.methodCount) == method.count, keyCount == key.count else { return false }
        let written = texts.text(record.textStart)
        let keyStart = record.isKeyURL ? method.count : record.textCount - keyCount
        return written[..<method.count].elementsEqual(method) && written[keyStart..<keyStart + keyCount].elementsEqual(key)
    }

    /// The number of traces that can be found.
    var count: Int {
        var count = 0
        for number in max(0, recordCount - recordLimit)..<recordCount
        where texts.holds(records[number % recordLimit].textStart) { count += 1 }
        return count
    }

    /// Visits records from the newest to the oldest.
    /// - Parameters:
    ///   - end: only records that were written before the record with this number.
    ///   - limit: the maximum number of records to visit.
    ///   - visit: returns whether to continue.
    /// - Returns: the `end` for the next call; `nil` if no older record is kept, or `visit` stopped.
    func visit(before end: Int, atMost limit: Int, _ visit: (borrowing TraceView) -> Bool) -> Int? {
        if isOff { return nil }
        let oldest = max(0, recordCount - recordLimit)
        var number = min(end, recordCount) - 1
        var left = limit
        while number >= oldest, left > 0 {
            let record = records[number % recordLimit]
            guard texts.holds(record.textStart) else { return nil }
            let view = TraceView(record, loop: loop, number: number, texts: texts.text(record.textStart))
            guard visit(view) else { return nil }
            number -= 1
            left -= 1
        }
        return number >= oldest ? number + 1 : nil
    }

    /// The trace in this view. The view must be of this ring.
    func read(_ view: borrowing TraceView) -> TracedRequest { read(view.record, view.number) }

    private func read(_ record: TraceRecord, _ number: Int) -> TracedRequest {
        var left = texts.text(record.textStart)[...]
        func text(_ count: Int) -> String {
            defer { left = left.dropFirst(count) }
            return String(decoding: left.prefix(count), as: UTF8.self)
        }
        let method = text(Int(record.methodCount))
        let url = text(Int(record.urlCount))
        let rules = text(Int(record.rulesCount)).split(separator: "\n").map(String.init)
        let overrides = text(Int(record.overridesCount)).split(separator: "\n").map(Self.override)
        let key = text(Int(record.keyCount))
        return TracedRequest(
            id: record.id, trace: record.trace, durationMicroseconds: record.durationMicroseconds,
            connectMicroseconds: UInt64(record.connectMicroseconds),
            firstByteMicroseconds: UInt64(record.firstByteMicroseconds),
            bytesSent: record.bytesSent, reusedConnection: record.reusedConnection, mode: record.mode, method: method, url: url,
            key: record.isKeyURL ? url : key, isKeyCut: record.isKeyCut, conditions: record.conditions, rules: rules,
            overrides: overrides, place: TracePlace(finishedAt: record.finishedAt, loop: loop, number: number))
    }

    private static func override(_ line: Substring) -> RuleOverride {
        let word = line.prefix { $0 != " " }
        return RuleOverride(rule: String(line.dropFirst(word.count + 1)), word: String(word))
    }
}
