/// Limits on what a peer may send and what a session stores for it. Rates count frames of one `rateWindow`.
///
/// If the peer exceeds a limit of `HTTP2Limit`, the session sends GOAWAY with ENHANCE_YOUR_CALM and reads no more.
package struct HTTP2Limits: Equatable, Sendable {
    /// The maximum number of requests that a client may have open at once (SETTINGS_MAX_CONCURRENT_STREAMS). A further request is a
    /// connection error, or is refused while the client has not acknowledged the settings.
    package var concurrentStreams = 100
    /// The maximum size of a decoded field section, in bytes: names, values, and 32 bytes for each line (SETTINGS_MAX_HEADER_LIST_SIZE, RFC
    /// 9113 §10.5.1).
    package var headerListBytes = 64 * 1024
    /// The maximum number of field lines in a field section. All `cookie` lines of a request together count as one.
    package var fieldCount = 100
    /// The size of each dynamic table for compression, in bytes (SETTINGS_HEADER_TABLE_SIZE, RFC 7541 §4.2).
    package var headerTableBytes = 4096
    /// The maximum number of CONTINUATION frames of one field block (CVE-2024-27316), at most `continuationFramesMaximum`. A field block
    /// also has one frame before these. Each frame has at most 16 KiB.
    package var continuationFrames = 8
    /// The fixed limit of some versions of libnghttp2, whose sessions are unusable after a field block exceeds it.
    package static let continuationFramesMaximum = 8
    /// The length of the time in which frames are counted.
    package var rateWindow = Duration.seconds(10)
    /// The maximum number of DATA frames without content and without END_STREAM, for each `rateWindow` (CVE-2019-9518).
    package var emptyDataFrames = 100
    /// The maximum number of SETTINGS frames for each `rateWindow` (CVE-2019-9515).
    package var settingsFrames = 20
    /// The maximum number of PING frames for each `rateWindow`, beyond one for each DATA frame sent (CVE-2019-9512).
    package var pingFrames = 50
    /// The maximum number of streams reset by the peer, or by this side because of a violation, for each `rateWindow` (CVE-2023-44487,
    /// CVE-2025-8671).
    package var resetStreams = 200
    /// The maximum number of heads and trailers above `headerListBytes` or `fieldCount`, for each `rateWindow`. One received byte can be
    /// decoded to a field of 4,000 bytes (RFC 7541 §7.3).
    package var oversizedHeads = 100
    /// The maximum number of WINDOW_UPDATE frames for each `rateWindow`, beyond `windowUpdatesPerData` for each DATA frame sent.
    package var windowUpdateFrames = 1000
    /// The number of WINDOW_UPDATE frames that a peer may send for each DATA frame. A usual peer sends one for the stream and one for the
    /// connection; twice as many are permitted.
    package static let windowUpdatesPerData = 4
    /// The maximum number of PRIORITY, PRIORITY_UPDATE and GOAWAY frames, and frames of unknown types, for each `rateWindow`
    /// (CVE-2019-9513).
    package var otherFrames = 500
    /// The maximum number of DATA and HEADERS frames on closed streams for each `rateWindow`, beyond `framesPerSentReset` for each stream
    /// that this side has reset.
    package var closedStreamFrames = 500
    /// The number of frames that a peer may send on a stream that this side has reset, because it has not received the reset yet. A usual
    /// window holds 16 frames of the usual length.
    package var framesPerSentReset = 100
    /// The maximum number of queued frames that respond to the peer's frames, and that the peer has not read yet (CVE-2019-9514).
    package var queuedControlFrames = 200
    /// The maximum number of bytes of content that the peer may send on a stream before they are consumed (SETTINGS_INITIAL_WINDOW_SIZE).
    package var streamWindow = 256 * 1024
    /// The maximum number of bytes of content that the peer may send on all streams together before this side has received them.
    package var connectionWindow = 1024 * 1024
    /// The maximum number of bytes of content that a session accepts for a stream before they are sent.
    package var outgoingStreamBytes = 64 * 1024

    package init() {}
}

/// A limit whose violation ends the connection.
package enum HTTP2Limit: Equatable, Hashable, Sendable, CaseIterable {
    case continuationFrames, emptyDataFrames, settingsFrames, pingFrames, resetStreams, oversizedHeads, windowUpdateFrames
    case otherFrames, closedStreamFrames, queuedControlFrames
    /// The client has reset too many streams on all its connections together. The owner counts these resets.
    case clientResets

    package var reason: StaticString {
        switch self {
        case .continuationFrames: "http2_too_many_continuations"
        case .emptyDataFrames: "http2_too_many_empty_data_frames"
        case .settingsFrames: "http2_too_many_settings"
        case .pingFrames: "http2_too_many_pings"
        case .resetStreams: "http2_too_many_resets"
        case .oversizedHeads: "http2_too_many_oversized_heads"
        case .windowUpdateFrames: "http2_too_many_window_updates"
        case .otherFrames: "http2_too_many_other_frames"
        case .closedStreamFrames: "http2_too_many_frames_on_closed_streams"
        case .clientResets: "http2_too_many_client_resets"
        case .queuedControlFrames: "http2_too_many_queued_frames"
        }
    }
}
