import HTTPMessage

/// The identifier of a stream (RFC 9113 §5.1.1): odd for a client's requests; 0 names the connection.
package typealias HTTP2StreamID = Int32

/// Something that a session has received. Events are in the order of the peer's frames.
package enum HTTP2Event: Sendable {
    /// A request that a server has received. Its target is in absolute form, made of `:scheme`, `:authority` and `:path`; the target of an
    /// ordinary CONNECT is in authority form.
    /// - `extendedConnect`: the position of `:protocol` in the head's bytes (RFC 8441); `nil` if there is none.
    /// - `endStream`: the request has no content and no trailers. No `end` follows.
    case requestHead(HTTP2StreamID, RequestHead, extendedConnect: Extent?, endStream: Bool)
    /// A request that RFC 9113 permits, but whose target Larder rejects. In HTTP/1.1 a request with such a target gets 400.
    case unacceptableTarget(HTTP2StreamID, RequestTargetError, endStream: Bool)
    /// A field section above `headerListBytes` or `fieldCount`. The stream stays open, so that a server can respond with 431.
    case headTooLarge(HTTP2StreamID, endStream: Bool)
    /// An informational response that a client has received (RFC 9110 §15.2). The caller limits their number.
    case informationalHead(HTTP2StreamID, ResponseHead)
    /// A final response that a client has received.
    case responseHead(HTTP2StreamID, ResponseHead, endStream: Bool)
    /// Content, as positions in the bytes given to `receive`. The caller must call `consumed` for it.
    case data(HTTP2StreamID, Range<Int>)
    /// The trailer section, without the fields that trailers cannot contain. `end` follows.
    case trailers(HTTP2StreamID, Fields)
    /// The peer sends nothing more on this stream.
    case end(HTTP2StreamID)
    /// The stream has ended early: the peer reset it, or this side did because the peer violated the protocol. No event of the stream
    /// follows. A request with `refusedStream` was not processed, and can be retried (RFC 9113 §8.7).
    case reset(HTTP2StreamID, HTTP2ErrorCode, byPeer: Bool)
    /// The peer processes no stream above this one (RFC 9113 §6.8).
    case goAway(lastStream: HTTP2StreamID, HTTP2ErrorCode)
    /// The peer's settings have changed.
    case settings
    /// The peer has applied the settings that this side sent last.
    case settingsAcknowledged
    case pingAcknowledged(UInt64)
    /// `submitData` accepts more content for this stream now, after it accepted only a part before.
    case windowOpened(HTTP2StreamID)
    /// The priority that the client requests for a stream (RFC 9218). The stream may not be open yet.
    case priority(HTTP2StreamID, StreamPriority)
    /// The peer exceeded a limit. GOAWAY is the last frame that `outgoing` returns.
    case limitExceeded(HTTP2Limit)
    /// A connection error of the peer (RFC 9113 §5.4.1). GOAWAY is the last frame that `outgoing` returns. Often `outgoing` adds this
    /// event, since libnghttp2 reports the error when it writes GOAWAY.
    case connectionFailed(HTTP2ErrorCode, reason: String)
}

/// The events that the owner of a session has not taken yet.
struct HTTP2EventQueue {
    private var events: [HTTP2Event] = []
    private var next = 0

    mutating func append(_ event: consuming HTTP2Event) { events.append(event) }

    mutating func popFirst() -> HTTP2Event? {
        guard next < events.count else { return nil }
        // The event is swapped out of the array, so that the caller owns the head's storage alone and can change it without a copy.
        var event = HTTP2Event.settings
        swap(&events[next], &event)
        next += 1
        if next == events.count {
            events.removeAll(keepingCapacity: true)
            next = 0
        }
        return event
    }
}
