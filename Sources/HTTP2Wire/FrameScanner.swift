/// Reads the preface and the frame headers of a peer's bytes before libnghttp2 receives them, and finds the frame that exceeds a limit.
///
/// libnghttp2 1.52 has no limit of its own for most frames, and a callback that fails makes its session unusable. The scanner stops before
/// such a frame, so that the session can still send GOAWAY. It also finds the connection errors that libnghttp2 ignores.
///
/// States and moves: `preface` (server only) → `header` → `padding` (of padded DATA) → `payload` → `header`. A violation is final.
struct FrameScanner {
    enum Violation: Equatable {
        case limit(HTTP2Limit)
        /// The client's bytes are not the preface (RFC 9113 §3.4).
        case preface
        /// A PUSH_PROMISE frame: from a server although this client has disabled push (RFC 9113 §6.6, §8.4), or from a client.
        case push
        /// A padded frame without a padding length (RFC 9113 §4.2).
        case frameSize
        /// A DATA frame on a stream that the peer itself has ended or reset (RFC 9113 §5.1).
        case streamClosed
        /// A PRIORITY frame for stream 0 (RFC 9113 §6.3).
        case priority
    }

    /// The part of the scanned bytes that libnghttp2 may receive.
    struct Scan: Equatable {
        /// Whether libnghttp2 receives `keptHeader` before the accepted bytes, because its frame began in an earlier scan.
        var hasHeader = false
        var accepted = 0..<0
        /// The violation found after the accepted bytes.
        var violation: Violation?
    }

    private enum State { case preface, header, padding, payload }

    private static let preface: StaticString = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    private static let headerLength = 9

    private enum Kind {
        static let data: UInt8 = 0
        static let headers: UInt8 = 1
        static let priority: UInt8 = 2
        static let resetStream: UInt8 = 3
        static let settings: UInt8 = 4
        static let pushPromise: UInt8 = 5
        static let ping: UInt8 = 6
        static let windowUpdate: UInt8 = 8
        static let continuation: UInt8 = 9
    }

    private static let endStream: UInt8 = 0x1
    private static let acknowledgement: UInt8 = 0x1
    private static let padded: UInt8 = 0x8

    var rates: FrameRates
    /// The header of a frame that began in bytes scanned before.
    private(set) var keptHeader: InlineArray<9, UInt8> = .init(repeating: 0)
    /// The last frame header, as far as it has arrived.
    private var header: InlineArray<9, UInt8> = .init(repeating: 0)
    private let continuationLimit: Int
    private var state: State
    /// Bytes of the preface or of the frame header that have arrived.
    private var position = 0
    /// Bytes of the payload that have not arrived.
    private var remaining = 0
    private var continuations = 0
    /// The streams that the peer has reset in the bytes of this scan, which libnghttp2 has not received yet.
    private var resetStreams: [HTTP2StreamID] = []

    private var length: Int { Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2]) }
    private var kind: UInt8 { header[3] }
    private var flags: UInt8 { header[4] }
    private var stream: HTTP2StreamID {
        HTTP2StreamID(header[5] & 0x7F) << 24 | HTTP2StreamID(header[6]) << 16 | HTTP2StreamID(header[7]) << 8
            | HTTP2StreamID(header[8])
    }

    init(isServer: Bool, limits: HTTP2Limits) {
        rates = FrameRates(limits: limits)
        continuationLimit = min(limits.continuationFrames, HTTP2Limits.continuationFramesMaximum)
        state = isServer ? .preface : .header
    }

    /// A frame header that is incomplete is kept, and is accepted with the bytes that complete it: libnghttp2 1.52 counts each part of the
    /// header of a CONTINUATION frame as one more frame.
    /// - Parameter closing: how a stream was closed before these bytes; `nil` if it may be open.
    mutating func scan(
        _ bytes: UnsafeRawBufferPointer, _ closing: (HTTP2StreamID) -> ClosedStreams.Closing?
    ) -> Scan {
        var scan = Scan()
        if !resetStreams.isEmpty { resetStreams.removeAll(keepingCapacity: true) }
        var index = 0
        // The position at which the frame header being read began; negative if the header began in an earlier scan.
        var headerStart = state == .header ? -position : 0
        scanning: while index < bytes.count {
            switch state {
            case .preface:
                guard bytes[index] == Self.preface.utf8Start[position] else {
                    scan.violation = .preface
                    break scanning
                }
                index += 1
                position += 1
                if position == Self.preface.utf8CodeUnitCount { state = .header }
                if state == .header { (position, headerStart) = (0, index) }
            case .header:
                header[position] = bytes[index]
                index += 1
                position += 1
                guard position == Self.headerLength else { continue }
                scan.violation = noteFrame(closing)
                if scan.violation != nil { break scanning }
                if headerStart < 0 {
                    keptHeader = header
                    scan = Scan(hasHeader: true, accepted: index..<index)
                }
                beginPayload()
                headerStart = index
            case .padding:
                if Int(bytes[index]) + 1 >= length, let limit = rates.noteEmptyData() {
                    scan.violation = .limit(limit)
                    break scanning
                }
                index += 1
                remaining -= 1
                state = remaining == 0 ? .header : .payload
                headerStart = index
            case .payload:
                let count = min(remaining, bytes.count - index)
                index += count
                remaining -= count
                if remaining == 0 { state = .header }
                headerStart = index
            }
        }
        let end = state == .header ? headerStart : index
        if end > scan.accepted.lowerBound { scan.accepted = scan.accepted.lowerBound..<end }
        return scan
    }

    private mutating func beginPayload() {
        position = 0
        remaining = length
        state = length == 0 ? .header : isPaddedData ? .padding : .payload
    }

    private var isPaddedData: Bool {
        kind == Kind.data && flags & Self.padded != 0 && flags & Self.endStream == 0
    }

    private mutating func noteFrame(_ closing: (HTTP2StreamID) -> ClosedStreams.Closing?) -> Violation? {
        let isAcknowledgement = flags & Self.acknowledgement != 0
        var limit: HTTP2Limit?
        switch kind {
        case Kind.data:
            if flags & Self.padded != 0, length == 0 { return .frameSize }
            if resetStreams.contains(stream) { return .streamClosed }
            switch closing(stream) {
            case .byPeer: return .streamClosed
            case .bySelf: rates.noteClosedStreamFrame()
            case nil: break
            }
            if length == 0, flags & Self.endStream == 0 { limit = rates.noteEmptyData() }
        case Kind.headers:
            if flags & Self.padded != 0, length == 0 { return .frameSize }
            continuations = 0
        case Kind.continuation:
            continuations += 1
            if continuations > continuationLimit { limit = .continuationFrames }
        case Kind.pushPromise: return .push
        case Kind.settings: limit = rates.noteSettings(isAcknowledgement: isAcknowledgement)
        case Kind.ping: limit = rates.notePing(isAcknowledgement: isAcknowledgement)
        case Kind.resetStream:
            resetStreams.append(stream)
            limit = rates.noteReset()
        case Kind.windowUpdate: limit = rates.noteWindowUpdate()
        case Kind.priority:
            if stream == 0 { return .priority }
            limit = rates.noteOther()
        // GOAWAY frames count under the limit for other frames, because no peer needs more than two.
        default: limit = rates.noteOther()
        }
        return limit.map(Violation.limit)
    }
}
