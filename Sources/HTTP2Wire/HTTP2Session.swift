internal import CLarderNghttp2
import HTTPMessage

/// One HTTP/2 connection (RFC 9113), on either side: it reads the peer's bytes, and produces events and the bytes to send. It uses no
/// socket and no clock.
///
/// libnghttp2 reads and writes frames and field blocks. Limits, request heads, content to send and windows are Larder's own. The owner
/// calls `receive`, takes all events with `nextEvent`, submits what it has, and sends the bytes of `outgoing`.
///
///     session.receive(bytes, at: now)
///     while let event = session.nextEvent() { … }
///     session.outgoing(into: &output, limit: 64 * 1024)
///
/// Received content is never stored: `HTTP2Event.data` gives positions in the bytes of the last `receive`.
package final class HTTP2Session {
    package enum Role: Sendable { case server, client }

    package let role: Role
    package let limits: HTTP2Limits
    let pointer: OpaquePointer
    @exclusivity(unchecked) private(set) var streams: [HTTP2StreamID: HTTP2Stream] = [:]
    @exclusivity(unchecked) private var spareStreams: [HTTP2Stream] = []
    @exclusivity(unchecked) var events = HTTP2EventQueue()
    @exclusivity(unchecked) var section = FieldSection()
    /// The field section that is being submitted.
    @exclusivity(unchecked) var block = OutgoingFields()
    @exclusivity(unchecked) var scanner: FrameScanner
    @exclusivity(unchecked) var memory = OriginMemory()
    /// Bytes of content that wait in all streams.
    @exclusivity(unchecked) var queuedBytes = 0
    /// The streams that wait for a window, the longest waiting first.
    @exclusivity(unchecked) var waiting: [HTTP2StreamID] = []
    /// Storage of heads that the owner has given back.
    @exclusivity(unchecked) var spareFields: [Fields] = []
    /// The highest stream of a request: received by a server, or submitted by a client.
    @exclusivity(unchecked) var highestStream: HTTP2StreamID = 0
    @exclusivity(unchecked) var closedStreams = ClosedStreams()
    /// Whether the peer has sent HEADERS on a stream that it had ended itself.
    @exclusivity(unchecked) var hasFrameOnClosedStream = false
    /// Whether GOAWAY is queued or sent.
    @exclusivity(unchecked) var isGoingAway = false
    /// The start of the bytes of the current `receive`.
    @exclusivity(unchecked) var input: UnsafeRawPointer?
    /// libnghttp2's error code for the last invalid frame.
    @exclusivity(unchecked) var lastInvalidFrame: CInt = 0
    /// Whether GOAWAY with an error is queued or sent, and its event is queued.
    @exclusivity(unchecked) var hasFailed = false
    /// Whether libnghttp2 must not be called again.
    @exclusivity(unchecked) private var isBroken = false

    /// - Parameter permitsExtendedConnect: whether a server announces extended CONNECT (RFC 8441).
    /// - Returns: `nil` if memory is short.
    package init?(role: Role, limits: HTTP2Limits = HTTP2Limits(), permitsExtendedConnect: Bool = false) {
        guard let pointer = SessionSetup.makeSession(role, limits) else { return nil }
        self.pointer = pointer
        self.role = role
        self.limits = limits
        scanner = FrameScanner(isServer: role == .server, limits: limits)
        // Unretained: this object owns the session, not the other way round.
        nghttp2_session_set_user_data(pointer, Unmanaged.passUnretained(self).toOpaque())
        guard SessionSetup.submitSettings(pointer, role, limits, permitsExtendedConnect: permitsExtendedConnect) else {
            return nil
        }
    }

    deinit { nghttp2_session_del(pointer) }

    /// Whether the connection can be closed: nothing remains to be sent, and no further frame of the peer matters.
    package var isFinished: Bool {
        isBroken || nghttp2_session_want_read(pointer) == 0 && nghttp2_session_want_write(pointer) == 0
    }

    /// Whether the stream exists, and at least one of its sides has not ended.
    package func isOpen(_ stream: HTTP2StreamID) -> Bool { streams[stream] != nil }

    /// Whether the last frame of this side was sent.
    package func hasSentEnd(_ stream: HTTP2StreamID) -> Bool { nghttp2_session_get_stream_local_close(pointer, stream) == 1 }

    /// The number of streams that the peer has reset, or has made this side reset, since the start of the connection.
    package var resetCount: Int { scanner.rates.resetTotal }

    /// Whether `outgoing` has bytes to return.
    package var hasOutput: Bool { !isBroken && nghttp2_session_want_write(pointer) != 0 }

    // MARK: Receiving

    /// Reads bytes of the peer. Reads nothing after a connection error.
    /// - Parameter now: the time since any fixed moment, for the limits that count frames.
    package func receive(_ bytes: UnsafeRawBufferPointer, at now: Duration) {
        if hasFailed || isBroken || bytes.isEmpty { return }
        scanner.rates.advance(to: now)
        if scanner.rates.exceedsResets { return fail(exceeding: .resetStreams) }
        let scan = scanner.scan(bytes) { closing(of: $0) }
        if scan.hasHeader {
            let header = scanner.keptHeader
            guard withUnsafeBytes(of: header, { feed($0) }) else { return }
        }
        input = bytes.baseAddress
        defer { input = nil }
        guard feed(UnsafeRawBufferPointer(rebasing: bytes[scan.accepted])) else { return }
        if hasFrameOnClosedStream { return fail(.streamClosed, reason: Self.closedStreamReason) }
        if scanner.rates.exceedsOversizedHeads { return fail(exceeding: .oversizedHeads) }
        if scanner.rates.exceedsClosedStreamFrames { return fail(exceeding: .closedStreamFrames) }
        switch scan.violation {
        case nil: break
        case .limit(let limit): return fail(exceeding: limit)
        case .preface: return fail(.protocolError, reason: "the client's bytes are not HTTP/2")
        case .push: return fail(.protocolError, reason: "the peer sent a PUSH_PROMISE frame, which is not allowed")
        case .streamClosed: return fail(.streamClosed, reason: Self.closedStreamReason)
        case .frameSize: return fail(.frameSizeError, reason: "the peer sent a padded frame without a padding length")
        case .priority: return fail(.protocolError, reason: "the peer sent a PRIORITY frame on stream 0")
        }
        // The number of queued frames also limits RST_STREAM frames to a client that does not read; acknowledgements are counted exactly by
        // `FrameRates`. A client's session is not checked: it queues its own requests here, and its server can cause frames only for
        // streams of these requests.
        let queueLimit = limits.queuedControlFrames + 4 * limits.concurrentStreams
        if role == .server, nghttp2_session_get_outbound_queue_size(pointer) > queueLimit {
            fail(exceeding: .queuedControlFrames)
        }
        if !waiting.isEmpty { announceWindows() }
    }

    private static let closedStreamReason = "the peer sent a frame on a stream that it had ended"

    /// - Returns: whether libnghttp2's session is still usable.
    private func feed(_ bytes: UnsafeRawBufferPointer) -> Bool {
        if bytes.isEmpty { return true }
        let result = nghttp2_session_mem_recv(pointer, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        if result < 0 { stop(because: CInt(result)) }
        return result >= 0
    }

    /// The next event of `receive` or `outgoing`, in their order.
    package func nextEvent() -> HTTP2Event? { events.popFirst() }

    /// Permits the peer to send as many bytes as were consumed of the stream's content (RFC 9113 §5.2).
    ///
    /// This opens the window of the stream. The window of the connection opens as soon as content is received, so unread content of one
    /// stream does not delay other streams. The windows of the streams limit how much unread content is kept.
    package func consumed(_ stream: HTTP2StreamID, _ count: Int) {
        guard count > 0, !isBroken, let entry = streams[stream] else { return }
        let count = min(count, entry.unconsumed)
        entry.unconsumed -= count
        nghttp2_session_consume_stream(pointer, stream, count)
    }

    /// Gives back the fields of a head or trailer section, so that the session uses their storage again.
    package func recycle(_ fields: consuming Fields) {
        guard spareFields.count < 16 else { return }
        fields.removeAll()
        spareFields.append(fields)
    }

    // MARK: Sending

    /// Appends the bytes to send next.
    /// - Parameter limit: stops when `output` has this many bytes; it may exceed that by one frame of 16 KiB.
    package func outgoing(into output: inout [UInt8], limit: Int) {
        while !isBroken, output.count < limit {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(pointer, &bytes)
            if count < 0 { return stop(because: CInt(count)) }
            guard count > 0, let bytes else { break }
            output.append(UnsafeBufferPointer(start: bytes, count: count).span)
        }
        if !waiting.isEmpty { announceWindows() }
    }

    // MARK: Streams

    @discardableResult
    func addStream(_ stream: HTTP2StreamID) -> HTTP2Stream {
        let entry = spareStreams.popLast() ?? HTTP2Stream()
        streams[stream] = entry
        return entry
    }

    func remove(_ stream: HTTP2StreamID) {
        guard let entry = streams.removeValue(forKey: stream), spareStreams.count < 64 else { return }
        entry.reset()
        spareStreams.append(entry)
    }

    /// Releases the storage of a connection without streams. Storage for one stream is kept.
    package func trim() {
        if spareStreams.count > 1 { spareStreams.removeLast(spareStreams.count - 1) }
        if spareFields.count > 1 { spareFields.removeLast(spareFields.count - 1) }
        closedStreams.trim()
    }

    // MARK: Failures

    /// Ends the connection because the peer exceeded a limit. `receive` checks all limits except those that the owner counts.
    package func fail(exceeding limit: HTTP2Limit) {
        if hasFailed { return }
        hasFailed = true
        events.append(.limitExceeded(limit))
        nghttp2_session_terminate_session(pointer, HTTP2ErrorCode.enhanceYourCalm.rawValue)
    }

    func fail(_ code: HTTP2ErrorCode, reason: String) {
        if hasFailed { return }
        hasFailed = true
        events.append(.connectionFailed(code, reason: reason))
        nghttp2_session_terminate_session(pointer, code.rawValue)
    }

    /// Ends the session after an error that makes libnghttp2's session unusable: memory is short, or libnghttp2's own limit is exceeded.
    private func stop(because error: CInt) {
        isBroken = true
        if hasFailed { return }
        hasFailed = true
        if error == CInt(NGHTTP2_ERR_FLOODED.rawValue) || error == CInt(NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue) {
            events.append(
                .limitExceeded(error == CInt(NGHTTP2_ERR_FLOODED.rawValue) ? .queuedControlFrames : .continuationFrames))
        } else {
            events.append(.connectionFailed(.internalError, reason: Self.text(of: error)))
        }
    }

    static func text(of error: CInt) -> String { String(cString: nghttp2_strerror(error)) }
}
