import EventLoop
import Glibc
import TLSChannel

/// How a connection ends: at once, after the answer under way, or in the hands of a tunnel.
extension ClientConnection {
    /// Ends the connection so that a message under way cannot be taken for complete: with a reset.
    func abort() {
        resetOnClose(descriptor)
        close()
    }

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

    /// What becomes of a connection whose client has asked for a tunnel.
    struct HandedOver {
        /// Whoever takes it closes the descriptor.
        let registration: Registration
        /// What was read behind the request's head.
        let received: [UInt8]
        let channel: ByteChannel
        /// What the client has not taken yet.
        let output: OutputQueue
    }

    /// Nothing was asked for in time. Whoever speaks TLS is told that nothing is missing (RFC 8446 §6.1).
    func closeIdle() {
        if channel.isSecured {
            channel.end()
            _ = output.write(to: &channel)
        }
        close()
    }

    /// Writes what waits, and gives the descriptor to a tunnel.
    /// - Parameter held: what was read of it already, behind the request's head.
    func handOver(holding held: [UInt8] = []) -> HandedOver? {
        guard let registration else { return nil }
        admit()
        firstBytes = nil
        // Where the client has gone, the tunnel will see it.
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

    /// Closes at once when idle, else after the answer under way. For what has only begun its client has a moment left.
    func drain() {
        if phase == .handshaking { return close() }
        if phase == .idle, output.isEmpty, !hasInput { return closeIdle() }
        closesWhenDrained = true
        if phase == .readingHead || phase == .intercepting { setDeadline(worker.settings.timeouts.lingering) }
    }

    /// Says that no more will be sent, and waits a little for the client to read what was, before the descriptor goes: closing
    /// at once with bytes unread would reset the connection and take the answer with it (RFC 9112 §9.6).
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

/// Makes the coming `close` send a reset instead of an orderly end.
func resetOnClose(_ descriptor: Int32) {
    var option = linger(l_onoff: 1, l_linger: 0)
    _ = setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
}
