import HTTPMessage
import HTTPWire

/// The request's content on its way from the client to the origin, decoded from the client's framing.
struct RequestUpload {
    private(set) var framing: BodyFraming = .none
    private var decoder = BodyDecoder(framing: .none, limits: ParseLimits())
    /// All of the request has been read from the client.
    private(set) var isComplete = true
    /// The origin takes no more for now.
    var isBlocked = false
    /// It stands in the key, and waits to be complete.
    var isGathering = false
    /// What was gathered of it.
    var content: [UInt8] = []
    /// Content bytes read so far.
    var receivedCount: UInt64 = 0

    mutating func begin(_ framing: BodyFraming, limits: ParseLimits) {
        self.framing = framing
        receivedCount = 0
        isBlocked = false
        isGathering = false
        if !content.isEmpty { content = [] }
        switch framing {
        case .none, .length(0): isComplete = true
        case .length, .chunked, .untilClose: isComplete = false
        }
        if !isComplete { decoder = BodyDecoder(framing: framing, limits: limits) }
    }

    var trailers: Fields { decoder.trailers }

    /// Whether what is left may turn out to be no more than so many bytes of content.
    func mayEnd(within limit: UInt64) -> Bool {
        switch framing {
        case .none: true
        case .length(let length): length - receivedCount <= limit
        case .chunked: limit > 0
        case .untilClose: false
        }
    }

    enum Step {
        case content(Range<Int>)
        case needsMore
        case ended
    }

    /// The next piece of content in `input` at or after `offset`, which moves behind it.
    mutating func next(in input: RawSpan, offset: inout Int) throws(BodyDecodeError) -> Step {
        switch try decoder.next(input, from: offset) {
        case .data(let range):
            offset = range.upperBound
            receivedCount += UInt64(range.count)
            return .content(range)
        case .needMore(let consumed):
            offset = consumed
            return .needsMore
        case .end(let consumed):
            offset = consumed
            isComplete = true
            return .ended
        }
    }
}
