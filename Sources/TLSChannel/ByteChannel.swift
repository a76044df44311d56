import CLinux
import Glibc

/// A client's connection as bytes, both ways: a non-blocking socket, with TLS on it or none. On a listener that speaks TLS there may be two
/// sessions, the inner one in a tunnel that is intercepted: its records are the content of the outer one's. Confined to its loop.
///
/// States and moves: plain ──`begin`──▶ opening ──`open`──▶ open, from which `begin` leads to opening once more. While a session is opening,
/// what is sent is its records, and what is received is what the client has sent for it, outside of it.
package struct ByteChannel {
    package enum Received: Equatable {
        case bytes(Int), wouldBlock
        /// Something came that holds nothing for the reader; there may be more.
        case needsMore
        /// The client has said that it sends no more: by the end of its side of the connection, or by a close_notify inside TLS.
        case ended
        /// The end of the connection without a close_notify: what came may not be the whole (RFC 8446 §6.1).
        case cut
        case failed
    }

    package enum Sent { case drained, blocked, failed }

    package let descriptor: Int32
    /// There is a session: told without asking for it, which counts a reference.
    package private(set) var isSecured = false
    /// On the socket.
    private var outer: ServerTLSSession?
    /// On the outer one.
    private var inner: ServerTLSSession?
    /// The last session is not open yet.
    private var isOpening = false
    /// How much of the outer session's records has left.
    private var sentOffset = 0

    package init(descriptor: Int32) { self.descriptor = descriptor }

    private var last: ServerTLSSession? { inner ?? outer }

    /// Has TLS spoken on what there is. There can be two sessions.
    package mutating func begin(_ session: ServerTLSSession) {
        precondition(inner == nil && !isOpening, "there is a session on this one, or one that is opening")
        if outer == nil { outer = session } else { inner = session }
        isOpening = true
        isSecured = true
    }

    /// The handshake of the last session has ended well.
    /// - Parameter records: what came behind it.
    package mutating func open(_ records: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Received {
        guard isOpening, let last else { preconditionFailure("no session is opening") }
        isOpening = false
        return records.isEmpty ? .needsMore : Received(last.receive(records, into: buffer))
    }

    // MARK: Receiving

    /// - Parameters:
    ///   - buffer: has room for `RecordBuffers.contentLength` bytes, so that all that comes is taken apart at once.
    ///   - buffers: of the loop.
    package func receive(into buffer: UnsafeMutableRawBufferPointer, through buffers: RecordBuffers) -> Received {
        guard let outer, inner != nil || !isOpening else {
            let received = read(into: buffer)
            return received == .cut ? .ended : received
        }
        if hasClientEnded { return inner?.hasClientEnded == false && !isOpening ? .cut : .ended }
        let received = read(into: buffers.records)
        guard case .bytes(let count) = received else { return received }
        return take(UnsafeRawBufferPointer(rebasing: buffers.records[..<count]), of: outer, into: buffer, buffers)
    }

    /// What has come before and was not told yet: behind bytes there may be an end.
    package func receiveRest(into buffer: UnsafeMutableRawBufferPointer, through buffers: RecordBuffers) -> Received {
        guard let outer, inner != nil || !isOpening else { return .needsMore }
        return take(UnsafeRawBufferPointer(start: nil, count: 0), of: outer, into: buffer, buffers)
    }

    /// Whether the client has said, inside TLS, that it sends no more.
    package var hasClientEnded: Bool { outer?.hasClientEnded == true || (!isOpening && inner?.hasClientEnded == true) }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, larder_msg_dontwait)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .cut }
            if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .failed }
        }
    }

    private func take(
        _ records: UnsafeRawBufferPointer, of outer: ServerTLSSession, into buffer: UnsafeMutableRawBufferPointer,
        _ buffers: RecordBuffers
    ) -> Received {
        guard let inner, !isOpening else { return Received(outer.receive(records, into: buffer)) }
        let content = Received(outer.receive(records, into: buffers.innerRecords))
        if content == .failed { return .failed }
        let count = if case .bytes(let count) = content { count } else { 0 }
        let received = Received(inner.receive(UnsafeRawBufferPointer(rebasing: buffers.innerRecords[..<count]), into: buffer))
        // The inner session knows nothing of the end.
        return received == .needsMore && content == .ended ? .cut : received
    }

    // MARK: Sending

    /// Puts all of it into records of the last session, which `sendRecords` sends.
    /// - Returns: whether that could be done.
    package func seal(_ bytes: UnsafeRawBufferPointer) -> Bool { last?.send(bytes) ?? false }

    /// Says that no more is sent, behind all that was sealed (RFC 8446 §6.1).
    package mutating func end() {
        inner?.end()
        _ = sealInnerRecords()
        outer?.end()
    }

    /// Of what is to be sent, and what TLS has to say by itself, how many bytes have not left.
    package var unsentCount: Int { (outer?.output.count ?? 0) - sentOffset + (inner?.output.count ?? 0) }

    /// Sends records until there are none, or the kernel takes no more.
    /// - Parameter total: to which the bytes are added that the kernel has taken.
    package mutating func sendRecords(counting total: inout UInt64) -> Sent {
        guard let outer, sealInnerRecords() else { return .failed }
        while sentOffset < outer.output.count {
            let count = outer.output.withUnsafeBytes {
                send(descriptor, $0.baseAddress! + sentOffset, $0.count - sentOffset, larder_msg_nosignal | larder_msg_dontwait)
            }
            if count < 0 {
                if errno == EINTR { continue }
                return errno == EAGAIN ? .blocked : .failed
            }
            sentOffset += count
            total &+= UInt64(truncatingIfNeeded: count)
        }
        outer.output.removeAll(keepingCapacity: true)
        sentOffset = 0
        return .drained
    }

    private func sealInnerRecords() -> Bool {
        guard let inner, let outer, !inner.output.isEmpty else { return true }
        defer { inner.output.removeAll(keepingCapacity: true) }
        return inner.output.withUnsafeBytes(outer.send)
    }

    /// Hands the storage of each session's records out, to be lent or taken back while nothing waits to be sent.
    package func withRecordStorage(_ body: (inout [UInt8]) -> Void) {
        if let outer { body(&outer.output) }
        if let inner { body(&inner.output) }
    }
}

extension ByteChannel.Received {
    fileprivate init(_ received: ServerTLSSession.Received) {
        self =
            switch received {
            case .octets(let count): .bytes(count)
            case .needsMore: .needsMore
            case .ended: .ended
            case .failed: .failed
            }
    }
}

/// Where a loop reads records, before what is in them goes to its reader. Of one loop.
package final class RecordBuffers {
    /// As they come from a socket: with what a record before has left, their content has room in `innerRecords`.
    package let records = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 * 1024, alignment: 16)
    /// Records inside of records, of a handshake's as well: with what one before has left, their content has room in `contentLength` bytes.
    package let innerRecords = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 32 * 1024 + ServerTLSSession.recordLength, alignment: 16)
    /// What a reader's buffer has to hold.
    package static let contentLength = 64 * 1024

    package init() {}

    deinit {
        records.deallocate()
        innerRecords.deallocate()
    }
}
