import HTTP2Wire

/// How a recipient has reacted to bytes, by the frames that it has sent.
package enum Reaction: Equatable, Sendable, CustomStringConvertible {
    case accepted
    case streamError(UInt32, HTTP2ErrorCode)
    case connectionError(HTTP2ErrorCode)

    /// - Parameter ignored: codes of RST_STREAM that report no error.
    package init(of frames: [Frame], ignoring ignored: Set<HTTP2ErrorCode> = []) {
        for case let code? in frames.map(\.goAwayCode) where code != .noError {
            self = .connectionError(code)
            return
        }
        for frame in frames {
            guard let code = frame.resetCode, !ignored.contains(code) else { continue }
            self = .streamError(frame.stream, code)
            return
        }
        self = .accepted
    }

    package var description: String {
        switch self {
        case .accepted: "accepted"
        case .streamError(let stream, let code): "stream error of \(stream): \(code)"
        case .connectionError(let code): "connection error: \(code)"
        }
    }
}

extension Frame {
    /// The error code of GOAWAY.
    package var goAwayCode: HTTP2ErrorCode? {
        type == 7 && payload.count >= 8 ? HTTP2ErrorCode(rawValue: Self.number(payload[4...])) : nil
    }

    /// The error code of RST_STREAM.
    package var resetCode: HTTP2ErrorCode? {
        type == 3 && payload.count == 4 ? HTTP2ErrorCode(rawValue: Self.number(payload[...])) : nil
    }

    package var endsStream: Bool { type <= 1 && flags & Self.endStream != 0 }

    package var isPingAcknowledgement: Bool { type == 6 && flags & Self.acknowledgement != 0 }
}
