import HTTPMessage

/// What a session stores for one stream.
///
/// A stream is created with its first head. It is removed when it is closed or reset. Its object then serves another stream.
final class HTTP2Stream {
    /// On a client: whether the final response was received, so that the next field section is the trailers. On a server: whether the final
    /// response was submitted.
    var hasFinalHead = false
    /// Whether this is the stream of a CONNECT request: its DATA frames are the tunnel's bytes, and it has no trailers (RFC 9113 §8.5).
    var isTunnel = false
    /// Bytes of content that the caller was given and has not consumed.
    var unconsumed = 0

    /// Content to send. The bytes before `sent` have been sent already.
    @exclusivity(unchecked) private var output: [UInt8] = []
    private var sent = 0
    /// Whether the content ends after `output`.
    var isEnding = false
    /// The trailers to send after the content.
    @exclusivity(unchecked) var trailers: Fields?
    /// Whether `windowOpened` is due when more content can be accepted.
    var isWaiting = false

    init() {}

    /// Prepares the object for another stream; the object keeps its storage up to the size of a usual response.
    func reset() {
        hasFinalHead = false
        isTunnel = false
        unconsumed = 0
        if !output.isEmpty || output.capacity > 2048 { output.removeAll(keepingCapacity: output.capacity <= 2048) }
        sent = 0
        isEnding = false
        if trailers != nil { trailers = nil }
        isWaiting = false
    }

    var queued: Int { output.count - sent }

    func append(_ bytes: UnsafeRawBufferPointer) {
        if bytes.isEmpty { return }
        if sent > 0, sent >= output.count / 2 {
            output.removeSubrange(0..<sent)
            sent = 0
        }
        output.append(contentsOf: bytes)
    }

    /// Moves at most `count` bytes of the content to `target`.
    func take(into target: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
        let taken = min(count, queued)
        output.withUnsafeBufferPointer { bytes in
            if taken > 0, let base = bytes.baseAddress { target.update(from: base + sent, count: taken) }
        }
        sent += taken
        if sent == output.count, sent > 0 {
            output.removeAll(keepingCapacity: true)
            sent = 0
        }
        return taken
    }
}
