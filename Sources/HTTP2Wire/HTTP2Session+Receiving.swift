internal import CLarderNghttp2
import HTTPMessage

/// Handles what libnghttp2 has read. `SessionCallbacks` calls these methods within `receive`, and for closed streams also within
/// `outgoing`.
extension HTTP2Session {
    // MARK: Closed streams

    /// How the stream was closed, for a DATA or HEADERS frame of the peer; `nil` if the stream is open or idle.
    ///
    /// libnghttp2 discards frames on closed streams. If the peer cannot have sent the frame before it received a reset, the frame is a
    /// connection error (RFC 9113 §5.1). After GOAWAY, the peer may have begun streams that were never opened here (RFC 9113 §6.8).
    func closing(of stream: HTTP2StreamID) -> ClosedStreams.Closing? {
        guard stream > 0, stream <= highestStream, streams[stream] == nil else { return nil }
        let isReset = nghttp2_session_find_stream(pointer, stream) != nil || closedStreams.mayBeReset(stream)
        return isReset || isGoingAway ? .bySelf : .byPeer
    }

    /// Called for each frame header that libnghttp2 does not discard at once, as it does with DATA on a closed stream (`FrameScanner`).
    func noteBegun(_ header: UnsafePointer<nghttp2_frame_hd>) {
        guard nghttp2_frame_type(UInt32(header.pointee.type)) == NGHTTP2_HEADERS else { return }
        let stream = header.pointee.stream_id
        if stream > highestStream {
            if role == .server { highestStream = stream }
            return
        }
        switch closing(of: stream) {
        case .byPeer: hasFrameOnClosedStream = true
        case .bySelf: scanner.rates.noteClosedStreamFrame()
        case nil: break
        }
    }

    /// Called for a frame for which libnghttp2 resets the stream or ends the connection.
    func noteInvalid(_ frame: UnsafePointer<nghttp2_frame>?, _ error: CInt) {
        lastInvalidFrame = error
        // A request that libnghttp2 refuses has no stream there, so its content may arrive before the reset is sent.
        if let frame, frame.pointee.hd.stream_id > 0 { closedStreams.noteReset(frame.pointee.hd.stream_id) }
    }

    // MARK: Frames

    func beginSection() { section.removeAll() }

    func addField(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>, isNeverIndexed: Bool) {
        section.add(name: name.span, value: value.span, isNeverIndexed: isNeverIndexed, limits: limits)
    }

    func noteReceived(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        let isAcknowledgement = header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_HEADERS:
            endSection(
                of: header.stream_id, isRequest: frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST, isLast: endsStream(header))
        case NGHTTP2_DATA: if endsStream(header), streams[header.stream_id] != nil { events.append(.end(header.stream_id)) }
        case NGHTTP2_RST_STREAM:
            let code = HTTP2ErrorCode(rawValue: frame.pointee.rst_stream.error_code)
            noteReset(header.stream_id, code, byPeer: true)
        case NGHTTP2_SETTINGS: events.append(isAcknowledgement ? .settingsAcknowledged : .settings)
        case NGHTTP2_PING: if isAcknowledgement { events.append(.pingAcknowledged(Self.number(frame.pointee.ping.opaque_data))) }
        case NGHTTP2_GOAWAY:
            let goAway = frame.pointee.goaway
            events.append(.goAway(lastStream: goAway.last_stream_id, HTTP2ErrorCode(rawValue: goAway.error_code)))
        case NGHTTP2_PRIORITY_UPDATE: notePriorityUpdate(frame.pointee.ext.payload)
        default: break
        }
    }

    private func endsStream(_ header: nghttp2_frame_hd) -> Bool { header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0 }

    private static func number(_ bytes: (UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8, UInt8)) -> UInt64 {
        withUnsafeBytes(of: bytes) { UInt64(bigEndian: $0.loadUnaligned(as: UInt64.self)) }
    }

    // MARK: Heads and trailers

    private func endSection(of stream: HTTP2StreamID, isRequest: Bool, isLast: Bool) {
        if section.isTooLarge { scanner.rates.noteOversizedHead() }
        if isRequest { return endRequest(of: stream, isLast: isLast) }
        // A stream that is not in `streams` was reset.
        guard let entry = streams[stream] else { return }
        if role == .client, !entry.hasFinalHead {
            endResponse(of: stream, isLast: isLast)
        } else {
            endTrailers(of: stream)
        }
    }

    private func endRequest(of stream: HTTP2StreamID, isLast: Bool) {
        if section.isTooLarge {
            addStream(stream)
            return events.append(.headTooLarge(stream, endStream: isLast))
        }
        var head = RequestHead()
        if let spare = spareFields.popLast() { head.fields = spare }
        let outcome = section.takeRequest(into: &head, with: &memory)
        let priority = section.priority
        switch outcome {
        case .malformed: return refuse(stream)
        case .unacceptable(let error):
            addStream(stream)
            events.append(.unacceptableTarget(stream, error, endStream: isLast))
        case .complete(let extendedConnect):
            addStream(stream).isTunnel = head.method == .connect
            events.append(.requestHead(stream, head, extendedConnect: extendedConnect, endStream: isLast))
            if let priority { events.append(.priority(stream, priority)) }
        }
    }

    private func endResponse(of stream: HTTP2StreamID, isLast: Bool) {
        if section.isTooLarge {
            streams[stream]?.hasFinalHead = true
            return events.append(.headTooLarge(stream, endStream: isLast))
        }
        var head = ResponseHead()
        if let spare = spareFields.popLast() { head.fields = spare }
        guard section.takeResponse(into: &head) else { return refuse(stream) }
        if head.status.isInformational { return events.append(.informationalHead(stream, head)) }
        streams[stream]?.hasFinalHead = true
        if !head.status.isSuccessful { streams[stream]?.isTunnel = false }
        events.append(.responseHead(stream, head, endStream: isLast))
    }

    private func endTrailers(of stream: HTTP2StreamID) {
        // A tunnel has no trailers (RFC 9113 §8.5).
        guard streams[stream]?.isTunnel == false, !section.isTooLarge, let trailers = section.takeTrailers() else {
            return refuse(stream)
        }
        events.append(.trailers(stream, trailers))
        events.append(.end(stream))
    }

    /// Resets the stream: a malformed message is a stream error (RFC 9113 §8.1.1).
    func refuse(_ stream: HTTP2StreamID) {
        nghttp2_submit_rst_stream(pointer, SessionSetup.flags, stream, HTTP2ErrorCode.protocolError.rawValue)
        noteReset(stream, .protocolError, byPeer: false)
    }

    // MARK: Content

    func noteContent(of stream: HTTP2StreamID, at bytes: UnsafeRawPointer?, count: Int) {
        guard let entry = streams[stream], let bytes, let input else {
            // The stream was reset, so its content only counts against the window of the connection.
            nghttp2_session_consume_connection(pointer, count)
            return
        }
        entry.unconsumed += count
        nghttp2_session_consume_connection(pointer, count)
        let start = input.distance(to: bytes)
        events.append(.data(stream, start..<start + count))
    }

    // MARK: End of a stream

    func noteClosed(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard let entry = streams[stream] else { return }
        if code != .noError { return noteReset(stream, code, byPeer: false) }
        queuedBytes -= entry.queued
        remove(stream)
    }

    private func noteReset(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode, byPeer: Bool) {
        guard forget(stream) else { return }
        events.append(.reset(stream, code, byPeer: byPeer))
    }

    /// Removes a stream.
    /// - Returns: whether the stream existed.
    func forget(_ stream: HTTP2StreamID) -> Bool {
        guard let entry = streams[stream] else { return false }
        queuedBytes -= entry.queued
        remove(stream)
        return true
    }

    // MARK: Priorities

    private func notePriorityUpdate(_ payload: UnsafeMutableRawPointer?) {
        guard let update = payload?.assumingMemoryBound(to: nghttp2_ext_priority_update.self).pointee else { return }
        let value = UnsafeBufferPointer(start: update.field_value, count: update.field_value_len)
        events.append(.priority(update.stream_id, StreamPriority(parsing: value.span)))
    }
}
