import HTTPMessage
import HTTPWire

/// All that decoding a body from bytes given in pieces comes to.
package enum ReadBody: Equatable {
    case refused(BodyDecodeError)
    case read(Body)

    package struct Body: Equatable {
        package var content: [UInt8] = []
        package var consumed = 0
        /// Name, value, name, value, …
        package var trailers: [[UInt8]] = []
        package var trailerBytes: [UInt8] = []
    }

    /// Gives the bytes in the pieces that end at `ends`, and then the end of input.
    package init(_ octets: [UInt8], framing: BodyFraming, ends: [Int], limits: ParseLimits) {
        var decoder = BodyDecoder(framing: framing, limits: limits)
        var body = Body()
        do throws(BodyDecodeError) {
            var start = 0
            for end in ends {
                if try body.read(octets.span.extracting(start..<end), with: &decoder) { break }
                start = end
            }
            try decoder.inputEnded()
            body.note(decoder.trailers)
            self = .read(body)
        } catch {
            self = .refused(error)
        }
    }

    /// The body in the chunked coding, as it would be sent on.
    package static func write(_ body: Body, chunkLength: Int) -> [UInt8] {
        var output: [UInt8] = []
        var rest = body.content[...]
        while !rest.isEmpty {
            let chunk = rest.prefix(chunkLength)
            ChunkWriter.writeChunkHeader(count: chunk.count, into: &output)
            output += chunk
            ChunkWriter.writeChunkEnd(into: &output)
            rest = rest.dropFirst(chunk.count)
        }
        var trailers = Fields()
        for index in stride(from: 0, to: body.trailers.count, by: 2) {
            let name = body.trailers[index]
            let value = body.trailers[index + 1]
            trailers.append(name: name.span, value: value.span)
        }
        ChunkWriter.writeLastChunk(trailers: trailers, into: &output)
        return output
    }
}

extension ReadBody.Body {
    /// Returns whether the body has ended.
    fileprivate mutating func read(
        _ piece: Span<UInt8>, with decoder: inout BodyDecoder
    ) throws(BodyDecodeError) -> Bool {
        var offset = 0
        while true {
            switch try decoder.next(piece.bytes, from: offset) {
            case .data(let range):
                precondition(!range.isEmpty && range.lowerBound >= offset && range.upperBound <= piece.count)
                content.append(piece.extracting(range))
                offset = range.upperBound
            case .needMore(let used):
                precondition(used == piece.count)
                consumed += used
                return false
            case .end(let used):
                consumed += used
                return true
            }
        }
    }

    fileprivate mutating func note(_ fields: Fields) {
        trailerBytes = fields.bytes
        trailers = fields.lines.flatMap { [Array(fields.bytes[$0.name.range]), Array(fields.bytes[$0.value.range])] }
    }
}
