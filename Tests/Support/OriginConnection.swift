import CLarderLinux
import Glibc

/// One connection of a `ScriptedOrigin`, used by its script with blocking calls (a read ends at the deadline).
package struct OriginConnection: ~Copyable {
    private let origin: ScriptedOrigin
    package let descriptor: Int32
    /// 1 for the first connection that the origin accepted.
    package let number: Int
    /// For an origin that uses TLS.
    let session: TLSServerSession?

    init(origin: ScriptedOrigin, descriptor: Int32, number: Int, session: TLSServerSession? = nil) {
        self.session = session
        self.origin = origin
        self.descriptor = descriptor
        self.number = number
        var limit = timeval(tv_sec: Deadline.seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Reads up to and including the empty line, and no further; `nil` if the peer closes first.
    package func readHead() -> String? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard let byte = read(count: 1) else { return nil }
            bytes += byte
        }
        let head = String(decoding: bytes, as: UTF8.self)
        origin.note(head: head)
        return head
    }

    /// Notes a head that was received in another way than by `readHead`.
    func note(head: String) { origin.note(head: head) }

    /// Reads exactly this many bytes; `nil` if the peer closes first.
    package func read(count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let step = bytes.withUnsafeMutableBytes { receive($0.baseAddress! + done, count - done) }
            if step <= 0 { return nil }
            done += step
        }
        return bytes
    }

    /// Reads the bytes that are available; `nil` if the peer has ended, or sends nothing until the time limit.
    package func readSome() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = receive(&buffer, buffer.count)
        return count > 0 ? Array(buffer[..<count]) : nil
    }

    /// Reads until the peer closes, or sends nothing until the time limit.
    package func readToEnd() -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = receive(&buffer, buffer.count)
            if count <= 0 { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Whether the peer closes the connection, in any way, before the time limit; bytes until then are discarded.
    package func isLetGo() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = receive(&buffer, buffer.count)
            if count == 0 || (count < 0 && errno != EAGAIN) { return true }
            if count < 0 { return false }
        }
    }

    package enum PeerEnd { case said, cut }

    /// How the peer ends the connection, if it does before the time limit: cleanly (with TLS, by close_notify) or by a reset or cut.
    package func peerEnd() -> PeerEnd? {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            errno = 0
            let count = receive(&buffer, buffer.count)
            if count == 0 { return .said }
            if count < 0 { return errno == EAGAIN ? nil : .cut }
        }
    }

    @discardableResult
    package func send(_ text: String) -> Bool { send(bytes: Array(text.utf8)) }

    /// - Returns: `false` if the peer accepts no more.
    @discardableResult
    package func send(bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let step = bytes.withUnsafeBytes { transmit($0.baseAddress! + done, bytes.count - done) }
            if step <= 0 { return false }
            done += step
        }
        return true
    }

    private func receive(_ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
        if let session { return session.receive(buffer, count) }
        return recv(descriptor, buffer, count, 0)
    }

    private func transmit(_ bytes: UnsafeRawPointer, _ count: Int) -> Int {
        if let session { return session.send(bytes, count) }
        return Glibc.send(descriptor, bytes, count, larder_msg_nosignal)
    }

    /// The server name in the client's TLS handshake.
    package var serverName: String? { session?.serverName }

    /// Whether the handshake chose HTTP/2.
    package var isHTTP2: Bool { session?.protocolName == "h2" }

    /// Whether the client has resumed an earlier TLS session.
    package var isResumed: Bool { session?.isResumed == true }

    /// Continues inside TLS. `body` is the part of the script after the handshake.
    package func speakTLS(as identity: TLSIdentity, _ body: (borrowing OriginConnection) -> Void) {
        let session = TLSServerSession(identity, descriptor)
        guard session.accept() else { return }
        body(OriginConnection(origin: origin, descriptor: descriptor, number: number, session: session))
        session.end()
    }

    /// Ends a TLS connection without close_notify when the script returns.
    package func cut() { session?.isCut = true }

    /// Sends one byte at a time, each in its own packet.
    package func sendByteByByte(_ text: String) {
        for byte in text.utf8 {
            if !send(bytes: [byte]) { return }
            usleep(50)
        }
    }

    /// Sends a response with a body of known length.
    @discardableResult
    package func respond(_ status: String = "200 OK", fields: String = "", body: String = "") -> Bool {
        send("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\(fields)\r\n\(body)")
    }

    /// Waits for this time, or until the peer leaves.
    package func pause(milliseconds: Int32) {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        _ = poll(&entry, 1, milliseconds)
    }

    /// Makes `send` fail if the peer accepts nothing for this time.
    package func limitSending(milliseconds: Int) {
        var limit = timeval(tv_sec: milliseconds / 1000, tv_usec: milliseconds % 1000 * 1000)
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    /// Ends sending, also within TLS; reading continues.
    package func endSending() {
        if let session { session.end() } else { shutDownSending() }
    }

    package func shutDownSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Makes the next close send a reset (RST) instead of closing cleanly.
    package func resetOnClose() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }
}
