import HTTPMessage

/// What a session stores for one stream.
///
/// A stream is created with its first head. It is removed when it is closed and its content is consumed, or when it is reset.
struct HTTP2Stream {
    /// On a client: the final response was received, so that the next field section is the trailers. On a server: it was submitted.
    var hasFinalHead = false
    /// The stream of a CONNECT request: besides DATA, it has no content of HTTP (RFC 9113 §8.5).
    var isTunnel = false
    /// The stream is closed, and the caller has not consumed all of its content.
    var isClosed = false
    /// Bytes of content that the caller was given and has not consumed.
    var unconsumed = 0

    /// Content to send. The bytes before `sent` are sent.
    private var output: [UInt8] = []
    private var sent = 0
    /// The content ends behind `output`.
    var isEnding = false
    /// To send behind the content.
    var trailers: Fields?
    /// `windowOpened` is due when more content can be accepted.
    var isWaiting = false

    init() {}

    init(closedWith unconsumed: Int) {
        isClosed = true
        self.unconsumed = unconsumed
    }

    var queued: Int { output.count - sent }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        if bytes.isEmpty { return }
        if sent > 0, sent >= output.count / 2 {
            output.removeSubrange(0..<sent)
            sent = 0
        }
        output.append(contentsOf: bytes)
    }

    /// Moves at most `count` bytes of the content to `target`.
    mutating func take(into target: UnsafeMutablePointer<UInt8>, count: Int) -> Int {
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
