internal import CLarderNghttp2
import HTTPMessage

/// Why a session does not accept a message or content to send.
package enum HTTP2SubmitError: Error, Equatable, Sendable {
    /// The stream is closed, reset, or its sending side has ended.
    case streamClosed
    /// The connection accepts no more requests: GOAWAY was sent or received, or the stream identifiers are used up. Another
    /// connection may accept them.
    case connectionClosing
    /// The server has not announced extended CONNECT (RFC 8441 §3).
    case extendedConnectNotPermitted
    /// The target of a request has no authority.
    case missingAuthority
    /// libnghttp2 failed, usually for lack of memory.
    case failed(code: Int32)
}

extension HTTP2Session {
    /// Begins a request; only for the session of a client. Fields that HTTP/2 does not have (RFC 9113 §8.2.2) are left out, as is Host.
    /// - Parameters:
    ///   - extendedConnect: the value of `:protocol`, with a target in absolute form (RFC 8441 §4).
    ///   - endStream: the request has no content and no trailers.
    package func submitRequest(
        _ head: borrowing RequestHead, extendedConnect: Span<UInt8>? = nil, endStream: Bool
    ) throws(HTTP2SubmitError) -> HTTP2StreamID {
        if hasFailed || nghttp2_session_check_request_allowed(pointer) == 0 { throw .connectionClosing }
        if extendedConnect != nil, !peerPermitsExtendedConnect { throw .extendedConnectNotPermitted }
        block.removeAll()
        guard block.addPseudoFields(of: head, extendedConnect: extendedConnect) else { throw .missingAuthority }
        block.add(head.fields)
        let result = block.withEntries { entries, count in
            withContent(unless: endStream) { nghttp2_submit_request(pointer, nil, entries, count, $0, nil) }
        }
        if result == CInt(NGHTTP2_ERR_STREAM_ID_NOT_AVAILABLE.rawValue) { throw .connectionClosing }
        if result < 0 { throw .failed(code: result) }
        let entry = addStream(result)
        highestStream = result
        entry.isEnding = endStream
        entry.isTunnel = head.method == .connect
        return result
    }

    /// Sends an informational response; 101 does not exist in HTTP/2 (RFC 9113 §8.6).
    package func submitInformational(_ stream: HTTP2StreamID, _ head: borrowing ResponseHead) throws(HTTP2SubmitError) {
        precondition(head.status.isInformational && head.status != .switchingProtocols, "not an informational response of HTTP/2")
        guard streams[stream] != nil else { throw .streamClosed }
        block.removeAll()
        block.addStatus(head.status)
        block.add(head.fields)
        let result = block.withEntries { entries, count in
            nghttp2_submit_headers(pointer, SessionSetup.flags, stream, nil, entries, count, nil)
        }
        if result < 0 { throw .failed(code: result) }
    }

    /// Begins the final response; only for the session of a server.
    /// - Parameter endStream: the response has no content and no trailers, like a response to HEAD.
    package func submitResponse(
        _ stream: HTTP2StreamID, _ head: borrowing ResponseHead, endStream: Bool
    ) throws(HTTP2SubmitError) {
        precondition(!head.status.isInformational, "not a final response")
        guard let entry = streams[stream], !entry.hasFinalHead else { throw .streamClosed }
        block.removeAll()
        block.addStatus(head.status)
        block.add(head.fields)
        let result = block.withEntries { entries, count in
            withContent(unless: endStream) { nghttp2_submit_response(pointer, stream, entries, count, $0) }
        }
        if result < 0 { throw .failed(code: result) }
        entry.hasFinalHead = true
        entry.isEnding = endStream
    }

    private func withContent(
        unless isEmpty: Bool, _ submit: (UnsafePointer<nghttp2_data_provider>?) -> CInt
    ) -> CInt {
        if isEmpty { return submit(nil) }
        let provider = nghttp2_data_provider(source: nghttp2_data_source(ptr: nil), read_callback: SessionCallbacks.readContent)
        return withUnsafePointer(to: provider) { submit($0) }
    }

    // MARK: Content

    /// How many bytes of content `submitData` accepts for the stream now: as many as the peer's windows for the stream and the connection
    /// permit, and as the stream has space for.
    package func capacity(of stream: HTTP2StreamID) -> Int {
        guard let entry = streams[stream], !entry.isEnding, !hasFailed else { return 0 }
        var window = Int(nghttp2_session_get_stream_remote_window_size(pointer, stream))
        if nghttp2_session_find_stream(pointer, stream) == nil {
            // The request is still queued, and its stream will begin with the initial window.
            window = Int(nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE))
        }
        let connection = Int(nghttp2_session_get_remote_window_size(pointer)) - queuedBytes
        return max(0, min(window - entry.queued, connection, limits.outgoingStreamBytes - entry.queued))
    }

    /// Accepts as many bytes of the content as `capacity` returns. If that is not all, the event `windowOpened` follows when the stream
    /// accepts more.
    ///
    /// Pass `end` with the last bytes if possible: an end without bytes must wait until the stream's window is open.
    /// - Parameter end: the content ends after these bytes, if all of them are accepted.
    /// - Returns: the number of bytes accepted.
    package func submitData(
        _ stream: HTTP2StreamID, _ bytes: UnsafeRawBufferPointer, end: Bool
    ) throws(HTTP2SubmitError) -> Int {
        guard let entry = streams[stream], !entry.isEnding, !hasFailed else { throw .streamClosed }
        let count = min(bytes.count, capacity(of: stream))
        entry.append(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        queuedBytes += count
        if count < bytes.count {
            if !entry.isWaiting { waiting.append(stream) }
            entry.isWaiting = true
        } else if end {
            entry.isEnding = true
        }
        if count > 0 || end { resume(stream) }
        return count
    }

    /// Ends the content with a trailer section (RFC 9113 §8.1).
    package func submitTrailers(_ stream: HTTP2StreamID, _ trailers: consuming Fields) throws(HTTP2SubmitError) {
        guard let entry = streams[stream], !entry.isEnding, !hasFailed else { throw .streamClosed }
        entry.trailers = trailers
        entry.isEnding = true
        resume(stream)
    }

    private func resume(_ stream: HTTP2StreamID) {
        // An error is harmless: it means that libnghttp2 has not asked for the stream's content yet.
        _ = nghttp2_session_resume_data(pointer, stream)
    }

    func readContent(
        of stream: HTTP2StreamID, into target: UnsafeMutablePointer<UInt8>, count: Int, flags: UnsafeMutablePointer<UInt32>
    ) -> Int {
        guard let entry = streams[stream] else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        if entry.queued == 0, !entry.isEnding { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        let taken = entry.take(into: target, count: count)
        queuedBytes -= taken
        if entry.isEnding, entry.queued == 0 {
            flags.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue
            if let trailers = entry.trailers, !trailers.isEmpty {
                flags.pointee |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                block.removeAll()
                block.add(trailers)
                let result = block.withEntries { nghttp2_submit_trailer(pointer, stream, $0, $1) }
                if result < 0 { return Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue) }
            }
        }
        return taken
    }

    /// Adds the event `windowOpened` for each stream that accepts content again, the longest waiting first.
    func announceWindows() {
        var index = 0
        while index < waiting.count {
            let stream = waiting[index]
            let isOpen = capacity(of: stream) > 0
            if isOpen {
                streams[stream]?.isWaiting = false
                events.append(.windowOpened(stream))
            }
            if isOpen || streams[stream] == nil {
                waiting.remove(at: index)
            } else {
                index += 1
            }
        }
    }

    // MARK: Control

    /// Ends a stream early. No events of the stream follow, except events that are already queued.
    package func reset(_ stream: HTTP2StreamID, _ code: HTTP2ErrorCode) {
        guard forget(stream) else { return }
        nghttp2_submit_rst_stream(pointer, SessionSetup.flags, stream, code.rawValue)
    }

    /// Announces that the connection ends. Requests that the peer sends from now on are still processed (RFC 9113 §6.8).
    package func announceShutdown() {
        isGoingAway = true
        nghttp2_submit_shutdown_notice(pointer)
    }

    /// Processes no further requests of the peer. Existing streams continue.
    package func goAway(_ code: HTTP2ErrorCode = .noError) {
        if hasFailed { return }
        isGoingAway = true
        let last = nghttp2_session_get_last_proc_stream_id(pointer)
        nghttp2_submit_goaway(pointer, SessionSetup.flags, last, code.rawValue, nil, 0)
    }

    package func ping(_ number: UInt64) {
        withUnsafeBytes(of: number.bigEndian) { bytes in
            _ = nghttp2_submit_ping(pointer, SessionSetup.flags, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        }
    }

    /// Changes how many requests the client may have open at once.
    package func submitSettings(concurrentStreams: Int) {
        var entry = nghttp2_settings_entry(
            settings_id: Int32(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS.rawValue), value: UInt32(concurrentStreams))
        nghttp2_submit_settings(pointer, SessionSetup.flags, &entry, 1)
    }

    // MARK: The peer's settings

    /// Whether the server has announced extended CONNECT (RFC 8441 §3).
    package var peerPermitsExtendedConnect: Bool {
        nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL) == 1
    }

    /// How many requests the server accepts at once. A client's session queues the others.
    package var peerConcurrentStreams: Int {
        Int(nghttp2_session_get_remote_settings(pointer, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS))
    }

    // MARK: Sent frames

    func noteSent(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        switch nghttp2_frame_type(UInt32(header.type)) {
        case NGHTTP2_DATA: scanner.rates.noteDataSent()
        case NGHTTP2_SETTINGS, NGHTTP2_PING:
            if header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0 { scanner.rates.noteAcknowledgementSent() }
        case NGHTTP2_RST_STREAM:
            closedStreams.noteReset(header.stream_id)
            scanner.rates.noteResetSent()
            if HTTP2ErrorCode(rawValue: frame.pointee.rst_stream.error_code).blamesPeer { scanner.rates.noteViolation() }
        case NGHTTP2_GOAWAY:
            let code = HTTP2ErrorCode(rawValue: frame.pointee.goaway.error_code)
            if code != .noError, !hasFailed {
                hasFailed = true
                let reason = lastInvalidFrame == 0 ? "libnghttp2 gives no reason" : Self.text(of: lastInvalidFrame)
                events.append(.connectionFailed(code, reason: reason))
            }
        default: break
        }
    }

    /// Ends the stream of a head that libnghttp2 could not send, such as a head above libnghttp2's limit.
    func noteNotSent(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        guard nghttp2_frame_type(UInt32(header.type)) == NGHTTP2_HEADERS, forget(header.stream_id) else { return }
        events.append(.reset(header.stream_id, .internalError, byPeer: false))
        nghttp2_submit_rst_stream(pointer, SessionSetup.flags, header.stream_id, HTTP2ErrorCode.internalError.rawValue)
    }
}
