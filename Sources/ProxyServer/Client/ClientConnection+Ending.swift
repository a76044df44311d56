import EventLoop
import Glibc
import TLSChannel

/// The ways in which a connection ends: at once, after the current response, or by becoming a tunnel.
extension ClientConnection {
    func clientGone() {
        let leaving = driver
        driver = nil
        close()
        leaving?.clientGone()
    }

    func close() {
        guard phase != .closed else { return }
        if phase == .readingHead || phase == .idle, let driver {
            self.driver = nil
            driver.abandon()
        }
        let firstBytes = self.firstBytes
        self.firstBytes = nil
        phase = .closed
        if let timer { loop.removeTimer(timer) }
        timer = nil
        if let registration { loop.close(registration) }
        registration = nil
        firstBytes?.connectionEnded()
        worker.connectionClosed(self)
    }

    /// The parts of a connection that becomes a tunnel.
    struct HandedOver {
        /// The descriptor of the socket, which its new owner closes.
        let registration: Registration
        /// Bytes read after the request's head.
        let received: [UInt8]
        let channel: ByteChannel
        /// Bytes that the client has not received yet.
        let output: OutputQueue
    }

    /// Closes a connection on which no request came in time. A TLS client gets a close_notify, so it knows that nothing is missing (RFC
    /// 8446 §6.1).
    func closeIdle() {
        if channel.isSecured {
            channel.end()
            _ = output.write(to: &channel)
        }
        close()
    }

    /// Writes waiting output, and gives the descriptor to a tunnel.
    /// - Parameter held: bytes already read after the request's head.
    func handOver(holding held: [UInt8] = []) -> HandedOver? {
        guard let registration else { return nil }
        admit()
        firstBytes = nil
        // A write error is ignored here. It means that the client has left, which the tunnel will detect.
        _ = output.write(to: &channel)
        if output.isEmpty { worker.takeBack(&output.buffer) }
        let leaving = output
        output = OutputQueue()
        let received = held + (hasInput ? input[inputStart...] : [])
        if let timer { loop.removeTimer(timer) }
        timer = nil
        self.registration = nil
        phase = .handedOver
        input = []
        inputStart = 0
        return HandedOver(registration: registration, received: received, channel: channel, output: leaving)
    }

    /// Closes the connection: at once if it is idle or in the TLS handshake with a listener, otherwise after the current response. A client
    /// that has sent only part of a request's head gets a short time for the rest.
    func drain() {
        if phase == .handshaking { return close() }
        if phase == .idle, output.isEmpty, !hasInput { return closeIdle() }
        closesWhenDrained = true
        if phase == .readingHead || phase == .intercepting { setDeadline(worker.settings.timeouts.lingering) }
    }

    /// Ends sending, and waits briefly for the client to read the response before closing. Closing at once with unread bytes would reset
    /// the connection, and the client would lose the response (RFC 9112 §9.6).
    func endGracefully() {
        guard let registration else { return }
        if channel.isSecured {
            channel.end()
            _ = output.write(to: &channel)
        }
        if shutdown(descriptor, Int32(SHUT_WR)) != 0 || peerHasEnded { return close() }
        phase = .lingering
        loop.modify(registration, .read)
        setDeadline(worker.settings.timeouts.lingering)
    }
}

/// Makes the next `close` send a reset instead of closing cleanly.
func resetOnClose(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
}
