import HTTPMessage

/// Records and their texts as a loop notes them and the writer takes them: two arrays that keep their storage.
struct AccessBatch: Sendable {
    /// A record and where its texts end, counted from where the first begins.
    struct Item: Sendable {
        let record: AccessRecord
        let start: Int
        let ends: InlineArray<6, UInt16>
    }

    private(set) var items: [Item] = []
    private(set) var texts: [UInt8] = []

    /// Most records, and octets of text, between two visits of the writer.
    static let itemLimit = 4096
    static let textLimit = 512 * 1024

    var isEmpty: Bool { items.isEmpty }
    var isHalfFull: Bool { items.count >= Self.itemLimit / 2 || texts.count >= Self.textLimit / 2 }
    var isFull: Bool { items.count >= Self.itemLimit || texts.count >= Self.textLimit }

    /// Makes room once, so that noting a record never grows anything. Pages that are not used stay untouched.
    mutating func reserve() {
        items.reserveCapacity(Self.itemLimit)
        // The last record that fits may bring all its texts.
        texts.reserveCapacity(Self.textLimit + AccessText.allCases.reduce(0) { $0 + $1.lengthLimit })
    }

    mutating func removeAll() {
        items.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
    }

    mutating func append(
        _ record: AccessRecord, method: Span<UInt8>, url: Span<UInt8>, referrer: Span<UInt8>, userAgent: Span<UInt8>,
        contentType: Span<UInt8>, rule: Span<UInt8>
    ) {
        let start = texts.count
        var ends: InlineArray<6, UInt16> = .init(repeating: 0)
        ends[AccessText.method.rawValue] = append(method, as: .method, from: start)
        ends[AccessText.url.rawValue] = append(url, as: .url, from: start)
        ends[AccessText.referrer.rawValue] = append(referrer, as: .referrer, from: start)
        ends[AccessText.userAgent.rawValue] = append(userAgent, as: .userAgent, from: start)
        ends[AccessText.contentType.rawValue] = append(contentType, as: .contentType, from: start)
        ends[AccessText.rule.rawValue] = append(rule, as: .rule, from: start)
        items.append(Item(record: record, start: start, ends: ends))
    }

    @_lifetime(borrow self)
    func text(_ text: AccessText, of item: Item) -> Span<UInt8> {
        let lower = text.rawValue == 0 ? 0 : Int(item.ends[text.rawValue - 1])
        return texts.span.extracting(item.start + lower..<item.start + Int(item.ends[text.rawValue]))
    }

    private mutating func append(_ span: Span<UInt8>, as text: AccessText, from start: Int) -> UInt16 {
        texts.append(span.extracting(first: text.lengthLimit))
        return UInt16(texts.count - start)
    }
}
