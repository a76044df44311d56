import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("Writing the chunked transfer coding (RFC 9112 §7.1)")
struct ChunkWriterTests {
    @Test(
        "A size is written in hexadecimal without leading zeros",
        arguments: [
            (1, "1"), (15, "f"), (16, "10"), (255, "ff"), (4096, "1000"), (131_072, "20000"), (Int.max, "7fffffffffffffff"),
        ])
    func writesSize(count: Int, text: String) {
        var output: [UInt8] = []
        ChunkWriter.writeChunkHeader(count: count, into: &output)
        #expect(String(decoding: output, as: UTF8.self) == text + "\r\n")
    }

    @Test("A written body is read back unchanged, with its trailers", arguments: [[], [1], [16, 3, 4000]])
    func readsBack(sizes: [Int]) throws {
        var output: [UInt8] = []
        var content: [UInt8] = []
        for size in sizes {
            let data = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
            content += data
            ChunkWriter.writeChunkHeader(count: size, into: &output)
            output += data
            ChunkWriter.writeChunkEnd(into: &output)
        }
        var trailers = Fields()
        trailers.append("X-Sum", "1")
        ChunkWriter.writeLastChunk(trailers: trailers, into: &output)
        let body = try Decoded(chunked: output)
        #expect(body.content == content)
        #expect(body.consumed == output.count)
        #expect(body.trailers.count == 1)
    }
}
