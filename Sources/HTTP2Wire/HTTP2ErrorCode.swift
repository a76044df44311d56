/// An error code of RST_STREAM and GOAWAY (RFC 9113 §7). Peers may send codes that have no name.
package struct HTTP2ErrorCode: RawRepresentable, Equatable, Hashable, Sendable {
    package let rawValue: UInt32

    package init(rawValue: UInt32) { self.rawValue = rawValue }

    package static let noError = HTTP2ErrorCode(rawValue: 0x0)
    package static let protocolError = HTTP2ErrorCode(rawValue: 0x1)
    package static let internalError = HTTP2ErrorCode(rawValue: 0x2)
    package static let flowControlError = HTTP2ErrorCode(rawValue: 0x3)
    package static let settingsTimeout = HTTP2ErrorCode(rawValue: 0x4)
    package static let streamClosed = HTTP2ErrorCode(rawValue: 0x5)
    package static let frameSizeError = HTTP2ErrorCode(rawValue: 0x6)
    /// The peer has not processed the request, so that it can be retried (RFC 9113 §8.7).
    package static let refusedStream = HTTP2ErrorCode(rawValue: 0x7)
    package static let cancel = HTTP2ErrorCode(rawValue: 0x8)
    package static let compressionError = HTTP2ErrorCode(rawValue: 0x9)
    package static let connectError = HTTP2ErrorCode(rawValue: 0xA)
    package static let enhanceYourCalm = HTTP2ErrorCode(rawValue: 0xB)
    package static let inadequateSecurity = HTTP2ErrorCode(rawValue: 0xC)
    /// The peer requires HTTP/1.1 for this request.
    package static let http11Required = HTTP2ErrorCode(rawValue: 0xD)

    /// The reason for logs, recordings and `Proxy-Status` details, if a server has reset a stream with this code.
    package var resetReason: StaticString {
        rawValue < UInt32(Self.resetReasons.count) ? Self.resetReasons[Int(rawValue)] : "stream_reset"
    }

    /// - Parameter resetReason: a reason with a code, as in `resetReason`.
    package init?(resetReason: String) {
        guard let index = Self.resetReasons.firstIndex(where: { "\($0)" == resetReason }) else { return nil }
        self.init(rawValue: UInt32(index))
    }

    private static let resetReasons: [StaticString] = [
        "stream_reset_no_error", "stream_reset_protocol_error", "stream_reset_internal_error", "stream_reset_flow_control_error",
        "stream_reset_settings_timeout", "stream_reset_stream_closed", "stream_reset_frame_size_error",
        "stream_reset_refused_stream", "stream_reset_cancel", "stream_reset_compression_error", "stream_reset_connect_error",
        "stream_reset_enhance_your_calm", "stream_reset_inadequate_security", "stream_reset_http_1_1_required",
    ]

    /// Whether this code says that the sender's peer has violated the protocol.
    var blamesPeer: Bool {
        switch self {
        case .protocolError, .flowControlError, .streamClosed, .frameSizeError, .refusedStream, .enhanceYourCalm: true
        default: false
        }
    }
}

extension HTTP2ErrorCode: CustomStringConvertible {
    /// The name in RFC 9113, or the number in hexadecimal.
    package var description: String {
        let names = [
            "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT", "STREAM_CLOSED",
            "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR", "CONNECT_ERROR", "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
        ]
        return rawValue < UInt32(names.count) ? names[Int(rawValue)] : "0x" + String(rawValue, radix: 16)
    }
}
