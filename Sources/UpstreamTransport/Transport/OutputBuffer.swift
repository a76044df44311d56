import HTTPMessage

/// Bytes waiting to be sent, in order.
struct OutputBuffer {
    private(set) var bytes: [UInt8] = []
    private(set) var start = 0

    var count: Int { bytes.count - start }
    var isEmpty: Bool { start == bytes.count }

    func send(_ body: (Span<UInt8>) -> SendOutcome) -> SendOutcome { body(bytes.span.extracting(start..<bytes.count)) }

    mutating func append(_ span: Span<UInt8>) { bytes.append(span) }

    /// Lets `body` append bytes to the end of the buffer.
    mutating func append(_ body: (inout [UInt8]) -> Void) { body(&bytes) }

    mutating func consume(_ count: Int) {
        start += count
        if start == bytes.count { removeAll() }
    }

    /// Removes all bytes. Keeps the storage unless it is larger than a usual head needs.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.capacity <= 16 * 1024)
        start = 0
    }
}
