import CLarderLinux
import Glibc

/// A connection as bytes in both directions: a non-blocking socket, with or without TLS. Confined to its loop. Its peer is a client or a
/// server. There may be two TLS sessions: for a client, the outer one belongs to a listener with TLS, and the inner one to an intercepted
/// tunnel. The records of the inner session are the content of the outer one.
///
/// States and moves: plain ──`begin`──▶ opening ──`open`──▶ open; from there `begin` leads to opening again. While a session is opening,
/// the channel sends the session's records; `receive` returns the peer's handshake bytes, which the caller passes to the session.
package struct ByteChannel {
    package enum Received: Equatable {
        case bytes(Int), wouldBlock
        /// Bytes have arrived, but they contain no data for the reader. More bytes may be available.
        case needsMore
        /// The peer sends no more: it closed its side of the connection, or sent a close_notify inside TLS.
        case ended
        /// The connection ended without a close_notify: the received data may be incomplete (RFC 8446 §6.1).
        case cut
        case failed
    }

    package enum Sent { case drained, blocked, failed }

    package let descriptor: Int32
    /// Whether the channel has a TLS session. The flag is stored, because a check of the reference to the session would retain it.
    package private(set) var isSecured = false
    /// The TLS session whose records are sent and received on the socket.
    private var outer: TLSSession?
    /// The TLS session whose records are the content of the outer session.
    private var inner: TLSSession?
    /// Whether the handshake of the innermost session has not succeeded yet.
    private var isOpening = false
    /// How many bytes of the outer session's records have been sent.
    private var sentOffset = 0

    package init(descriptor: Int32) { self.descriptor = descriptor }

    private var last: TLSSession? { inner ?? outer }

    /// Starts TLS on the connection, or inside the existing session. There are at most two sessions.
    package mutating func begin(_ session: TLSSession) {
        precondition(inner == nil && !isOpening, "there is a session on this one, or one that is opening")
        if outer == nil { outer = session } else { inner = session }
        isOpening = true
        isSecured = true
    }

    /// Notes that the handshake of the innermost session has succeeded, and decrypts the records received after it.
    /// - Parameter records: the bytes received after the handshake.
    package mutating func open(_ records: UnsafeRawBufferPointer, into buffer: UnsafeMutableRawBufferPointer) -> Received {
        guard isOpening, let last else { preconditionFailure("no session is opening") }
        isOpening = false
        return records.isEmpty ? .needsMore : Received(last.receive(records, into: buffer))
    }

    // MARK: Receiving

    /// - Parameters:
    ///   - buffer: must have space for `RecordBuffers.contentLength` bytes, so that all received records can be decrypted at once.
    ///   - buffers: the buffers of the loop.
    package func receive(into buffer: UnsafeMutableRawBufferPointer, through buffers: RecordBuffers) -> Received {
        guard let outer, inner != nil || !isOpening else {
            let received = read(into: buffer)
            return received == .cut ? .ended : received
        }
        if hasPeerEnded { return inner?.hasPeerEnded == false && !isOpening ? .cut : .ended }
        let received = read(into: buffers.records)
        guard case .bytes(let count) = received else { return received }
        return take(UnsafeRawBufferPointer(rebasing: buffers.records[..<count]), of: outer, into: buffer, buffers)
    }

    /// Returns data that was received earlier but not returned yet, or the end that follows it.
    package func receiveRest(into buffer: UnsafeMutableRawBufferPointer, through buffers: RecordBuffers) -> Received {
        guard let outer, inner != nil || !isOpening else { return .needsMore }
        return take(UnsafeRawBufferPointer(start: nil, count: 0), of: outer, into: buffer, buffers)
    }

    /// Whether an end or a failure inside TLS follows the data returned last: `receiveRest` reports it.
    package var isOver: Bool { outer?.isOver == true || inner?.isOver == true }

    /// Whether a record has arrived in part.
    package var isWithinRecord: Bool { outer?.isWithinRecord == true || inner?.isWithinRecord == true }

    /// Whether the peer has closed its side inside TLS.
    package var hasPeerEnded: Bool { outer?.hasPeerEnded == true || (!isOpening && inner?.hasPeerEnded == true) }

    private func read(into buffer: UnsafeMutableRawBufferPointer) -> Received {
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, larder_msg_dontwait)
            if count > 0 { return .bytes(count) }
            if count == 0 { return .cut }
            if errno != EINTR { return errno == EAGAIN ? .wouldBlock : .failed }
        }
    }

    private func take(
        _ records: UnsafeRawBufferPointer, of outer: TLSSession, into buffer: UnsafeMutableRawBufferPointer,
        _ buffers: RecordBuffers
    ) -> Received {
        guard let inner, !isOpening else { return Received(outer.receive(records, into: buffer)) }
        let content = Received(outer.receive(records, into: buffers.innerRecords))
        if content == .failed { return .failed }
        let count = if case .bytes(let count) = content { count } else { 0 }
        let received = Received(inner.receive(UnsafeRawBufferPointer(rebasing: buffers.innerRecords[..<count]), into: buffer))
        // If the outer session has ended, but the inner session has not, the connection was cut off.
        return received == .needsMore && content == .ended ? .cut : received
    }

    // MARK: Sending

    /// Encrypts all bytes into records of the innermost session; `sendRecords` sends them.
    /// - Returns: whether it succeeded.
    package func seal(_ bytes: UnsafeRawBufferPointer) -> Bool { last?.send(bytes) ?? false }

    /// Adds a close_notify after all bytes that were encrypted so far (RFC 8446 §6.1).
    package mutating func end() {
        inner?.endSending()
        _ = sealInnerRecords()
        outer?.endSending()
    }

    /// The number of bytes not sent yet, including TLS's own messages.
    package var unsentCount: Int { (outer?.output.count ?? 0) - sentOffset + (inner?.output.count ?? 0) }

    /// Sends records until there are none, or the kernel accepts no more.
    /// - Parameter total: is increased by the number of bytes that the kernel accepted.
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

    /// Gives access to the storage of each session's records, so that a caller can lend or take back storage while no bytes wait to be
    /// sent.
    package func withRecordStorage(_ body: (inout [UInt8]) -> Void) {
        if let outer { body(&outer.output) }
        if let inner { body(&inner.output) }
    }
}

extension ByteChannel.Received {
    fileprivate init(_ received: TLSSession.Received) {
        self =
            switch received {
            case .octets(let count): .bytes(count)
            case .needsMore: .needsMore
            case .ended: .ended
            case .failed: .failed
            }
    }
}

/// Buffers for received records, one per loop.
package final class RecordBuffers {
    /// Records from a socket. Their decrypted content, with the rest of an earlier record, fits into `innerRecords`.
    package let records = UnsafeMutableRawBufferPointer.allocate(byteCount: 32 * 1024, alignment: 16)
    /// The inner session's records, which are the decrypted content of the outer session's records. Also used during the inner session's
    /// handshake. Their own content, with the rest of an earlier record, fits into `contentLength` bytes.
    package let innerRecords = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 32 * 1024 + TLSSession.recordLength, alignment: 16)
    /// Storage for records to send, lent to one channel at a time.
    @exclusivity(unchecked) package var output: [UInt8] = []
    /// The required size of a reader's buffer, in bytes.
    package static let contentLength = 64 * 1024

    package init() {}

    deinit {
        records.deallocate()
        innerRecords.deallocate()
    }
}
