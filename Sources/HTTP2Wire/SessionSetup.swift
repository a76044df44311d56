internal import CLarderNghttp2

/// Makes a session of libnghttp2: its options, its callbacks and its first SETTINGS frame.
enum SessionSetup {
    /// The largest field section that can be sent, in bytes. It is larger than any head that Larder receives, because rules may add fields.
    private static let sendHeaderListBytes = 256 * 1024

    static func makeSession(_ role: HTTP2Session.Role, _ limits: HTTP2Limits) -> OpaquePointer? {
        var callbacks: OpaquePointer?
        guard nghttp2_session_callbacks_new(&callbacks) == 0 else { return nil }
        defer { nghttp2_session_callbacks_del(callbacks) }
        SessionCallbacks.set(on: callbacks)
        var option: OpaquePointer?
        guard nghttp2_option_new(&option) == 0 else { return nil }
        defer { nghttp2_option_del(option) }
        nghttp2_option_set_no_auto_window_update(option, 1)
        // libnghttp2 keeps no closed streams: only the priorities of RFC 7540 would need them.
        nghttp2_option_set_no_closed_streams(option, 1)
        nghttp2_option_set_builtin_recv_extension_type(option, UInt8(NGHTTP2_PRIORITY_UPDATE.rawValue))
        nghttp2_option_set_max_deflate_dynamic_table_size(option, limits.headerTableBytes)
        nghttp2_option_set_max_send_header_block_length(option, sendHeaderListBytes)
        // libnghttp2's limit is above the limit of `FrameScanner`. The scanner stops earlier, so that the session can still send GOAWAY.
        nghttp2_option_set_max_outbound_ack(option, limits.queuedControlFrames + 64)
        var session: OpaquePointer?
        let result =
            role == .server
            ? nghttp2_session_server_new2(&session, callbacks, nil, option)
            : nghttp2_session_client_new2(&session, callbacks, nil, option)
        return result == 0 ? session : nil
    }

    /// Queues SETTINGS, and WINDOW_UPDATE for the connection (RFC 9113 §3.4, §6.5.2, §6.9.2).
    static func submitSettings(
        _ session: OpaquePointer, _ role: HTTP2Session.Role, _ limits: HTTP2Limits, permitsExtendedConnect: Bool
    ) -> Bool {
        var entries = [
            entry(NGHTTP2_SETTINGS_HEADER_TABLE_SIZE, limits.headerTableBytes),
            entry(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, limits.streamWindow),
            entry(NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.headerListBytes),
            entry(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
        ]
        switch role {
        case .server:
            entries.append(entry(NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.concurrentStreams))
            if permitsExtendedConnect { entries.append(entry(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1)) }
        case .client: entries.append(entry(NGHTTP2_SETTINGS_ENABLE_PUSH, 0))
        }
        return nghttp2_submit_settings(session, flags, entries, entries.count) == 0
            && nghttp2_session_set_local_window_size(session, flags, 0, Int32(limits.connectionWindow)) == 0
    }

    static let flags = UInt8(NGHTTP2_FLAG_NONE.rawValue)

    private static func entry(_ id: nghttp2_settings_id, _ value: Int) -> nghttp2_settings_entry {
        nghttp2_settings_entry(settings_id: Int32(id.rawValue), value: UInt32(value))
    }
}
