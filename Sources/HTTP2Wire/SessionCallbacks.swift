internal import CLarderNghttp2

/// The functions that libnghttp2 calls. Each function finds its session and calls one of the session's methods. A result of 0 means
/// success.
enum SessionCallbacks {
    /// The result that resets the stream, while the connection continues.
    fileprivate static let resetsStream = CInt(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)

    static func set(on callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks) { _, _, owner in
            session(of: owner).beginSection()
            return 0
        }
        nghttp2_session_callbacks_set_on_header_callback(callbacks) { _, _, name, nameLength, value, valueLength, flags, owner in
            session(of: owner).addField(
                UnsafeBufferPointer(start: name, count: nameLength), UnsafeBufferPointer(start: value, count: valueLength),
                isNeverIndexed: UInt32(flags) & NGHTTP2_NV_FLAG_NO_INDEX.rawValue != 0)
            return 0
        }
        nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks) { _, header, owner in
            if let header { session(of: owner).noteBegun(header) }
            return 0
        }
        // By RFC 9113 §8.2.1 and §10.3, an invalid field makes the message malformed. Without this callback, libnghttp2 would skip the
        // field and accept the message.
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks) { _, frame, _, _, _, _, _, owner in
            guard let frame else { return SessionCallbacks.resetsStream }
            session(of: owner).refuse(frame.pointee.hd.stream_id)
            return SessionCallbacks.resetsStream
        }
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, owner in
            if let frame { session(of: owner).noteReceived(frame) }
            return 0
        }
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks) { _, _, stream, bytes, count, owner in
            session(of: owner).noteContent(of: stream, at: UnsafeRawPointer(bytes), count: count)
            return 0
        }
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks) { _, frame, error, owner in
            session(of: owner).noteInvalid(frame, error)
            return 0
        }
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks) { _, stream, code, owner in
            session(of: owner).noteClosed(stream, HTTP2ErrorCode(rawValue: code))
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks) { _, frame, owner in
            if let frame { session(of: owner).noteSent(frame) }
            return 0
        }
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks) { _, frame, _, owner in
            if let frame { session(of: owner).noteNotSent(frame) }
            return 0
        }
    }

    /// Gives libnghttp2 the content to send next.
    static let readContent: nghttp2_data_source_read_callback = { _, stream, target, count, flags, _, owner in
        guard let target, let flags else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
        return session(of: owner).readContent(of: stream, into: target, count: count, flags: flags)
    }
}

private func session(of owner: UnsafeMutableRawPointer?) -> HTTP2Session {
    guard let owner else { preconditionFailure("a session of libnghttp2 without an owner") }
    return Unmanaged<HTTP2Session>.fromOpaque(owner).takeUnretainedValue()
}
