import HTTPMessage

/// Complete log lines in reused storage, which a loop writes and the writer takes.
struct AccessLines: Sendable {
    private(set) var bytes: [UInt8] = []
    private var clock = LogClock()

    /// How many bytes of lines may be added until the writer takes them. The line that exceeds the limit is still accepted, and is the
    /// last.
    static let byteLimit = 1024 * 1024

    var isEmpty: Bool { bytes.isEmpty }
    var isHalfFull: Bool { bytes.count >= Self.byteLimit / 2 }
    var isFull: Bool { bytes.count >= Self.byteLimit }

    /// Reserves capacity once, so that writing a line never allocates. Unused pages stay untouched.
    mutating func reserve() {
        bytes.reserveCapacity(Self.byteLimit + AccessLog.Format.lineLimit)
        clock.reserve()
    }

    mutating func removeAll() { bytes.removeAll(keepingCapacity: true) }

    /// The number of lines that end at or after this byte.
    func count(from start: Int) -> Int { bytes[start...].count { $0 == ASCII.lf } }

    mutating func append(_ record: AccessRecord, _ texts: AccessTexts, as format: AccessLog.Format) {
        clock.advance(to: record.receivedAt, for: format)
        bytes.append(addingCapacity: format.lengthLimit(texts)) { format.write(record, texts, clock, into: &$0) }
    }
}
