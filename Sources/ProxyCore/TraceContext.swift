import HTTPMessage

/// The place of a request in a distributed trace (W3C Trace Context).
///
/// All identifiers follow from the request's fields and its id, so that an exchange stores nothing for them.
package struct TraceContext: Equatable, Sendable {
    /// Which requests are traced.
    package struct Sampling: Equatable, Sendable {
        /// The share of requests to trace, from 0 to 1. It applies to requests whose client has made no decision (`traceparent`).
        package let share: Double

        package init(share: Double) { self.share = share }

        /// Decides by the request's id, which is as good as a random number after mixing.
        func selects(_ id: UInt64) -> Bool { share >= 1 || Double(TraceContext.mixed(id) >> 11) < share * 9_007_199_254_740_992 }
    }

    package let traceHigh: UInt64
    package let traceLow: UInt64
    /// The span of the sender of the request; `nil` if the trace begins here.
    package let parent: UInt64?
    package let isSampled: Bool
    /// The span of the exchange with the client.
    package let span: UInt64
    /// The span of the exchange with the origin. The origin gets it as its parent.
    package let upstreamSpan: UInt64

    private static let field = Array("traceparent".utf8)

    /// - Parameter id: the request's id, which is unique.
    package init(_ fields: Fields, id: UInt64, _ sampling: Sampling) {
        span = max(1, id)
        upstreamSpan = max(1, Self.mixed(id ^ 0x5053_5452_4541_4D00))
        if let value = fields.value(ofAllLinesNamed: Self.field), let sent = Self.read(value) {
            (traceHigh, traceLow, parent) = (sent.high, sent.low, sent.parent)
            isSampled = sent.flags & 1 == 1
        } else {
            (traceHigh, traceLow, parent) = (Self.mixed(id), max(1, Self.mixed(Self.mixed(id))), nil)
            isSampled = sampling.selects(id)
        }
    }

    /// Reads `00-TRACE-PARENT-FLAGS`. A higher version may have more parts (W3C Trace Context §3.2.2 and §4).
    static func read(_ value: [UInt8]) -> (high: UInt64, low: UInt64, parent: UInt64, flags: UInt8)? {
        guard value.count >= length, let version = number(value[0..<2]), version != 0xFF,
            version > 0 ? value.count == length || value[length] == dash : value.count == length,
            value[2] == dash, value[35] == dash, value[52] == dash,
            let high = number(value[3..<19]), let low = number(value[19..<35]), let parent = number(value[36..<52]),
            let flags = number(value[53..<55]), high | low != 0, parent != 0
        else { return nil }
        return (high, low, parent, UInt8(flags))
    }

    private static let length = 55
    private static let dash = UInt8(ascii: "-")

    /// Only digits and lower-case letters are valid.
    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        var number: UInt64 = 0
        for digit in digits {
            guard let value = ASCII.hexValue(digit), digit < UInt8(ascii: "A") || digit >= UInt8(ascii: "a") else { return nil }
            number = number << 4 | UInt64(value)
        }
        return number
    }

    /// Writes the span of the exchange with the origin into the request's field, in place of the sender's span.
    /// - Parameter start: the beginning of the request's head in `output`.
    func writeParent(into output: inout [UInt8], from start: Int) {
        guard parent != nil, isSampled else { return }
        let name = Array("\r\ntraceparent:".utf8)
        var place = start
        while place + name.count + Self.length <= output.count {
            var length = 0
            while length < name.count, ASCII.lowercased(output[place + length]) == name[length] { length += 1 }
            if length < name.count {
                place += 1
                continue
            }
            place += name.count
            while place < output.count, output[place] == ASCII.space || output[place] == ASCII.tab { place += 1 }
            guard place + Self.length <= output.count else { return }
            output.replaceSubrange(place + 36..<place + 52, with: Array(Hexadecimal.encode(padded: upstreamSpan).utf8))
            return
        }
    }

    /// The last step of SplitMix64: a permutation of all numbers.
    static func mixed(_ number: UInt64) -> UInt64 {
        var mixed = number &+ 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

extension DecisionTrace {
    /// Whether the span of the exchange with the client is an error: by OpenTelemetry's conventions for HTTP, only a server's own error is.
    package var isServerError: Bool { status >= 500 }
    /// Whether the span of the exchange with the origin is an error: there, a client's error is one too.
    package var isUpstreamError: Bool { upstreamStatus == 0 || upstreamStatus >= 400 }
}
