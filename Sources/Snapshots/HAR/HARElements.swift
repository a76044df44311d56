import HTTPMessage

/// Splits a HAR stream into its entries, so that only one entry is in memory at a time. This parser tracks only JSON's strings and
/// brackets; another parser validates each entry.
struct HARElements {
    /// The maximum length of one entry, in bytes: enough for the heads and two bodies in base64. Each body may be as long as the longest
    /// body that is searched for secrets.
    static let elementLimit = 48 << 20
    /// The maximum nesting depth.
    static let depthLimit = 512

    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    /// The last string outside the entries, and the last of these strings that was followed by a colon.
    private var string: [UInt8] = []
    private var name: [UInt8] = []
    /// The depth of the array of entries; `nil` before and after that array.
    private var entriesDepth: Int?
    private var isInLog = false
    private(set) var hasEntries = false
    private var element: [UInt8] = []

    /// - Parameter take: receives each entry's text.
    mutating func append(
        _ octets: Span<UInt8>, take: (_ entry: [UInt8]) throws(SnapshotError) -> Void
    ) throws(SnapshotError) {
        for index in 0..<octets.count {
            let octet = octets[index]
            let isInEntry = entriesDepth.map { depth > $0 } ?? false
            if isInEntry || entriesDepth == depth && octet == UInt8(ascii: "{") {
                guard element.count < Self.elementLimit else { throw .tooLarge("an entry of the HAR file") }
                element.append(octet)
            }
            if isInString {
                takeInString(octet, isInEntry: isInEntry)
                continue
            }
            switch octet {
            case ASCII.quote:
                isInString = true
                string = []
            case ASCII.colon: if !isInEntry { name = string }
            case UInt8(ascii: "{"), UInt8(ascii: "["): try open(octet)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                guard depth >= 0 else { throw .malformed("not HAR: an unmatched closing bracket") }
                if let entriesDepth, depth == entriesDepth {
                    try take(element)
                    element = []
                } else if let entriesDepth, depth < entriesDepth {
                    self.entriesDepth = nil
                }
            default: break
            }
        }
    }

    private mutating func takeInString(_ octet: UInt8, isInEntry: Bool) {
        if isEscaped {
            isEscaped = false
        } else if octet == ASCII.backslash {
            isEscaped = true
        } else if octet == ASCII.quote {
            isInString = false
        } else if !isInEntry, string.count < 16 {
            string.append(octet)
        }
    }

    private mutating func open(_ octet: UInt8) throws(SnapshotError) {
        depth += 1
        guard depth <= Self.depthLimit else { throw .malformed("not HAR: brackets nested too deep") }
        if depth == 2 { isInLog = octet == UInt8(ascii: "{") && name == Array("log".utf8) }
        if depth == 3, isInLog, !hasEntries, octet == UInt8(ascii: "["), name == Array("entries".utf8) {
            entriesDepth = depth
            hasEntries = true
        }
    }

    /// - Throws: `malformed` if the text is truncated or has no entries.
    func finish() throws(SnapshotError) {
        guard hasEntries else { throw .malformed("not HAR: there is no log with entries") }
        guard depth == 0 else { throw .malformed("the HAR file is truncated") }
    }
}
