import CLarderLinux
import Glibc

/// Content of any length whose bytes are known at every offset: a seeded block, repeated. Its period is a prime, so that misplaced pieces
/// are detected.
package struct PatternedBody: Sendable {
    private static let period = 1_048_573
    private let block: [UInt8]
    package let length: Int

    package init(length: Int, seed: UInt64 = 1) {
        self.length = length
        var state = seed
        let words = (0...Self.period / 8).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 33
        }
        block = words.withUnsafeBytes { Array($0[..<Self.period]) }
    }

    /// Bytes from `offset`, at most `limit`, without copying.
    package func withPiece<Result>(
        at offset: Int, atMost limit: Int = .max, _ body: (UnsafeRawBufferPointer) -> Result
    ) -> Result {
        let start = offset % Self.period
        let count = min(Self.period - start, length - offset, limit)
        return block.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[start..<start + count])) }
    }

    package func bytes(_ range: Range<Int>) -> [UInt8] {
        var result: [UInt8] = []
        while result.count < range.count {
            withPiece(at: range.lowerBound + result.count, atMost: range.count - result.count) { result += $0 }
        }
        return result
    }

    /// Whether these bytes are the content at `offset`.
    package func matches(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> Bool {
        var done = 0
        while done < bytes.count {
            if offset + done >= length { return false }
            let count = withPiece(at: offset + done, atMost: bytes.count - done) { piece in
                memcmp(piece.baseAddress!, bytes.baseAddress! + done, piece.count) == 0 ? piece.count : 0
            }
            if count == 0 { return false }
            done += count
        }
        return true
    }
}

extension OriginConnection {
    /// Sends the content from `start` up to `end`.
    /// - Returns: the offset up to which it was accepted.
    @discardableResult
    package func send(_ body: PatternedBody, from start: Int = 0, upTo end: Int? = nil) -> Int {
        let end = end ?? body.length
        var done = start
        while done < end {
            let step = body.withPiece(at: done, atMost: end - done) { piece in
                Glibc.send(descriptor, piece.baseAddress, piece.count, larder_msg_nosignal)
            }
            if step <= 0 { return done }
            done += step
        }
        return done
    }
}

extension RawClient {
    /// Receives and compares content, until `count` bytes have arrived or the stream ends.
    /// - Parameter bytesPerSecond: the reading rate; `nil` for as fast as possible.
    /// - Returns: the number of bytes, all of which were correct.
    package func read(_ body: PatternedBody, count: Int, bytesPerSecond: Int? = nil) throws -> Int {
        var done = 0
        let first = takeHeld()
        guard first.withUnsafeBytes({ body.matches($0, at: 0) }) else { throw fault(.malformed) }
        done = first.count
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 * 1024, alignment: 16)
        defer { buffer.deallocate() }
        while done < count {
            let limit = min(buffer.count, count - done)
            let step = try receive(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<limit]))
            if step == 0 { return done }
            guard body.matches(UnsafeRawBufferPointer(rebasing: buffer[..<step]), at: done) else { throw fault(.malformed) }
            done += step
            if let bytesPerSecond { usleep(UInt32(step * 1_000_000 / bytesPerSecond)) }
        }
        return done
    }
}
