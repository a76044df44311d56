import HTTPMessage

/// The result of `BodyDecoder.next`; all positions are positions in the input of that call.
package enum BodyStep: Equatable, Sendable {
    /// A range of the input is content. Call `next` again from the range's end.
    case data(Range<Int>)
    /// The input is used up to its end, `consumed`; the caller need not keep any of it.
    case needMore(consumed: Int)
    /// The message ends here; the bytes that follow belong to the next message.
    case end(consumed: Int)
}

/// Finds the content in the bytes after a head, as the head's framing says (RFC 9112 §6.3, §7.1).
///
/// States and moves: `counting`, `chunked`, `untilClose` → `ended`. A thrown error is final.
package struct BodyDecoder: Sendable {
    private enum State {
        case counting(remaining: UInt64)
        case chunked
        case untilClose
        case ended
    }

    private var state: State
    private var chunks: ChunkedDecoder

    package init(framing: BodyFraming, limits: ParseLimits = ParseLimits()) {
        chunks = ChunkedDecoder(limits: limits)
        state = Self.state(for: framing)
    }

    /// Starts decoding the body of another message, reusing the storage.
    package mutating func reset(to framing: BodyFraming) {
        chunks.reset()
        state = Self.state(for: framing)
    }

    /// The fields of the trailer section. They are complete when the body has ended. Fields that are not allowed in a trailer section
    /// are left out.
    package var trailers: Fields { chunks.trailers }

    package var hasEnded: Bool {
        if case .ended = state { return true }
        return false
    }

    /// Returns the next piece of the body in `input` from `offset` on.
    package mutating func next(_ input: RawSpan, from offset: Int) throws(BodyDecodeError) -> BodyStep {
        let available = input.byteCount - offset
        switch state {
        case .ended:
            return .end(consumed: offset)
        case .untilClose:
            return available > 0 ? .data(offset..<input.byteCount) : .needMore(consumed: offset)
        case .counting(let remaining):
            guard available > 0 else { return .needMore(consumed: offset) }
            let count = remaining < UInt64(available) ? Int(remaining) : available
            let left = remaining - UInt64(count)
            state = left > 0 ? .counting(remaining: left) : .ended
            return .data(offset..<offset + count)
        case .chunked:
            let step = try chunks.next(Span<UInt8>(_bytes: input), from: offset)
            if case .end = step { state = .ended }
            return step
        }
    }

    /// The number of the next bytes that are certainly content, so that the decoder need not examine them.
    package var plainCount: UInt64 {
        switch state {
        case .counting(let remaining): remaining
        case .untilClose: .max
        case .chunked, .ended: 0
        }
    }

    /// Skips `count` bytes of content that the caller transferred without the decoder; `count` is at most `plainCount`.
    package mutating func skip(_ count: Int) {
        precondition(UInt64(count) <= plainCount, "only content can be skipped")
        guard case .counting(let remaining) = state else { return }
        let left = remaining - UInt64(count)
        state = left > 0 ? .counting(remaining: left) : .ended
    }

    /// Call this when the connection has no more input. Throws unless the body has ended, or ends when the connection ends.
    package mutating func inputEnded() throws(BodyDecodeError) {
        switch state {
        case .ended, .untilClose: state = .ended
        case .counting, .chunked: throw .incomplete
        }
    }

    private static func state(for framing: BodyFraming) -> State {
        switch framing {
        case .none, .length(0): .ended
        case .length(let length): .counting(remaining: length)
        case .chunked: .chunked
        case .untilClose: .untilClose
        }
    }
}
