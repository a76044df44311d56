import CLarderLinux
import Glibc

/// Why a client's read failed.
package struct ClientFault: Error, Equatable, CustomStringConvertible {
    package enum Reason: Sendable { case closed, reset, timedOut, malformed }

    package let reason: Reason
    package let received: String

    package var description: String { "\(reason), after \(received.debugDescription)" }
}

/// A client over TCP or a Unix socket that a test drives byte by byte, with blocking calls and a deadline for each.
package final class RawClient {
    package let descriptor: Int32
    /// An object that is kept alive as long as this client.
    private let owner: AnyObject?
    /// Received but not used yet.
    package private(set) var held: [UInt8] = []
    private var isClosed = false
    /// From `startTLS` on, all bytes pass through it.
    private var tls: TLSClient?

    /// - Parameter receiveBuffer: the size of the kernel's buffer in bytes; `nil` for the kernel's default.
    package init(
        port: UInt16, host: String = "127.0.0.1", owner: AnyObject? = nil, receiveBuffer: Int32? = nil,
        seconds: Int = Deadline.seconds
    ) throws {
        self.owner = owner
        descriptor = socket(AF_INET, larder_sock_stream | larder_sock_cloexec, 0)
        if var size = receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        Self.limitWaits(of: descriptor, seconds: seconds)
        var one: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
        if !LoopbackAddress.connect(descriptor, host: host, port: port) {
            Glibc.close(descriptor)
            isClosed = true
            throw ClientFault(reason: .closed, received: "no connection to \(host):\(port)")
        }
    }

    /// Over the Unix socket at this path.
    package init(socketPath: String, seconds: Int = Deadline.seconds) throws {
        owner = nil
        descriptor = socket(AF_UNIX, larder_sock_stream | larder_sock_cloexec, 0)
        Self.limitWaits(of: descriptor, seconds: seconds)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(socketPath.utf8)) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        if result != 0 {
            Glibc.close(descriptor)
            isClosed = true
            throw ClientFault(reason: .closed, received: "no connection to \(socketPath)")
        }
    }

    private static func limitWaits(of descriptor: Int32, seconds: Int) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close() }

    /// Uses TLS from here on.
    package func startTLS(_ terms: TLSClient.Terms) -> TLSClient.Handshake {
        let client = TLSClient(descriptor: descriptor, terms)
        let outcome = client.handshake()
        if outcome == .done { tls = client }
        return outcome
    }

    /// The result of `startTLS`.
    package var agreed: TLSClient.Agreed? { tls?.agreed }

    /// For resumption; with TLS 1.3 it arrives with the first data read.
    package var ticket: TLSClient.Ticket? { tls?.ticket }

    /// See `TLSClient.renegotiate`.
    package func renegotiateTLS() -> Bool { tls?.renegotiate() ?? false }

    /// Ends sending, within TLS.
    package func endTLS() { tls?.end() }

    // MARK: Sending

    package func send(_ text: String) { send(bytes: Array(text.utf8)) }

    /// - Returns: the number of bytes accepted before the peer closed, or accepted no more until the time limit.
    @discardableResult
    package func send(bytes: [UInt8]) -> Int {
        if let tls { return tls.send(bytes) }
        return sendAsIs(bytes)
    }

    /// The same, bypassing TLS.
    @discardableResult
    package func sendAsIs(_ bytes: [UInt8]) -> Int {
        var done = 0
        while done < bytes.count {
            let step = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + done, bytes.count - done, larder_msg_nosignal)
            }
            if step <= 0 { return done }
            done += step
        }
        return done
    }

    /// Sends one byte at a time, each in its own packet.
    package func sendByteByByte(_ text: String) {
        for byte in text.utf8 {
            if send(bytes: [byte]) == 0 { return }
        }
    }

    /// Sends all bytes of `body` in one packet, if possible.
    package func sendTogether(_ body: () -> Void) {
        for isHeld: Int32 in [1, 0] {
            var isHeld = isHeld
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CORK, &isHeld, socklen_t(MemoryLayout<Int32>.size))
            if isHeld == 1 { body() }
        }
    }

    /// Ends sending; reading continues.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    package func close() {
        if isClosed { return }
        isClosed = true
        Glibc.close(descriptor)
    }

    /// Closes the connection with a reset.
    package func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close()
    }

    // MARK: Receiving

    /// Receives once; `false` at the end of the stream.
    @discardableResult
    package func receive(atMost limit: Int = 65_536) throws -> Bool {
        let bytes = try withUnsafeTemporaryAllocation(byteCount: limit, alignment: 16) { buffer in
            let count = try receive(into: buffer)
            return Array(buffer[..<count])
        }
        held += bytes
        return !bytes.isEmpty
    }

    /// Receives directly from the socket, ignoring held bytes. 0 at the end of the stream.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        if let tls {
            let count = tls.receive(into: buffer)
            if count < 0 { throw fault(errno == EAGAIN ? .timedOut : .reset) }
            return count
        }
        while true {
            let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
            if count >= 0 { return count }
            switch errno {
            case EINTR: continue
            case EAGAIN: throw fault(.timedOut)
            default: throw fault(.reset)
            }
        }
    }

    /// Reads exactly this many bytes.
    package func read(count: Int) throws -> [UInt8] {
        while held.count < count {
            if try !receive() { throw fault(.closed) }
        }
        defer { held.removeFirst(count) }
        return Array(held[..<count])
    }

    /// Reads up to and including the first CRLF; returns the line without it.
    package func readLine() throws -> String {
        var scanned = 0
        while true {
            while scanned + 1 < held.count {
                if held[scanned] == 13, held[scanned + 1] == 10 {
                    let line = String(decoding: held[..<scanned], as: UTF8.self)
                    held.removeFirst(scanned + 2)
                    return line
                }
                scanned += 1
            }
            if try !receive() { throw fault(.closed) }
        }
    }

    /// Reads everything until the peer ends its side.
    package func readToEnd() throws -> [UInt8] {
        while try receive() {}
        defer { held = [] }
        return held
    }

    /// Whether the peer closes the connection, cleanly or by a reset, without sending anything more.
    package func isClosedByPeer() -> Bool {
        guard held.isEmpty else { return false }
        do {
            return try !receive()
        } catch let fault as ClientFault {
            return fault.reason == .reset
        } catch {
            return false
        }
    }

    /// Whether something can be read within this many milliseconds; the end of the stream counts.
    package func hasInput(withinMilliseconds limit: Int32) -> Bool {
        if !held.isEmpty { return true }
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, limit) > 0
    }

    package func takeHeld() -> [UInt8] {
        defer { held = [] }
        return held
    }

    package func fault(_ reason: ClientFault.Reason) -> ClientFault {
        ClientFault(reason: reason, received: String(decoding: held.prefix(400), as: UTF8.self))
    }
}
