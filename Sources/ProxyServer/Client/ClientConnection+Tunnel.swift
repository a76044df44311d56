import CertificateAuthority
import EventLoop
import Glibc
import HTTPMessage
import HTTPWire
import ProxyCore
import TLSChannel
import UpstreamTransport

/// What stands between the client's socket and its requests: TLS with a listener, and tunnels that are intercepted, in which the requests are for
/// the origin that the client has named.
extension ClientConnection: QueuedReader {
    /// Reads into the loop's buffer what the client has sent, out of TLS where it is in it.
    /// - Returns: as `recv`.
    func receive() -> Int {
        let buffer = worker.readBuffer
        if !channel.isSecured { return recv(descriptor, buffer.baseAddress, buffer.count, 0) }
        return receive(into: buffer)
    }

    /// The same into another buffer, whether there is TLS or none.
    private func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch channel.receive(into: buffer, through: worker.recordBuffers) {
        case .bytes(let count): return count
        case .wouldBlock: return failed(EAGAIN)
        case .needsMore:
            // What TLS answers by itself leaves at once, and nobody has more and more of it made.
            let unsent = channel.unsentCount
            if unsent > Self.answersLimit { return failed(ECONNABORTED) }
            if unsent > 0 { flushSoon() }
            return failed(EAGAIN)
        case .ended, .cut: return 0
        case .failed:
            // There may be an alert in it.
            _ = output.write(to: &channel)
            return failed(ECONNABORTED)
        }
    }

    /// In bytes.
    static let answersLimit = 256 * 1024

    private func failed(_ code: Int32) -> Int {
        errno = code
        return -1
    }

    /// A request under way has storage for its answer's records.
    func lendRecords() {
        channel.withRecordStorage { if $0.capacity == 0 { worker.lend(to: &$0) } }
    }

    /// Between requests a client holds none of our memory but its keys.
    func releaseRecords() {
        channel.withRecordStorage { if $0.capacity > 0 { worker.takeBack(&$0) } }
    }

    /// A request inside is one for the tunnel's origin, or none that is answered.
    func start(_ framing: BodyFraming, in tunnel: TunnelAuthority, with driver: ExchangeDriver) {
        do throws(MisdirectedRequest) {
            try driver.exchange.request.resolve(in: tunnel)
            driver.start(framing)
        } catch {
            driver.exchange.request.nameOrigin(of: tunnel)
            driver.refuse(.misdirectedRequest(detail: StaticToken(error.reason)), framing)
        }
    }

    // MARK: The first bytes

    /// The listener speaks TLS.
    func handshake(_ tls: ListenerTLS) {
        isCertified = tls.asksForCertificates
        firstBytes = ListenerHandshake(worker, tls, on: self)
        phase = .handshaking
        setDeadline(worker.settings.timeouts.clientHandshake)
    }

    /// The CONNECT is answered, and what comes next decides.
    func intercept(_ interceptor: ConnectInterceptor) {
        driver = nil
        // From here on it has a queue of its own, and is read as TLS wants it.
        admit()
        firstBytes = interceptor
        phase = .intercepting
        setDeadline(closesWhenDrained ? worker.settings.timeouts.lingering : interceptor.silenceLimit)
        // Whoever asked for a tunnel may have waited for an answer of ours from elsewhere.
        flushSoon()
    }

    var isReadingFirstBytes: Bool { phase == .intercepting || phase == .handshaking }

    func readFirstBytes() {
        guard let firstBytes, firstBytes.takesInput else { return flush() }
        // Behind a handshake there may be records, which are taken apart into the other buffer.
        let buffer = worker.recordBuffers.innerRecords
        let count = receive(into: buffer)
        if count == 0 { return firstBytes.inputEnded() ? flush() : clientGone() }
        if count < 0 {
            if errno != EAGAIN && errno != EINTR { clientGone() }
            return
        }
        firstBytes.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        flush()
    }

    func awaitTurn() {
        awaitsTurn = true
        // A connection that is broken says so once.
        if let registration { loop.modify(registration, .edgeTriggered) }
    }

    func resumeReading() {
        awaitsTurn = false
        if isReadingFirstBytes { readFirstBytes() } else if phase == .idle { readRequest() }
        if isReadingFirstBytes || phase == .idle { flush() }
    }

    /// What came together with the CONNECT.
    func feedInterceptor() {
        guard hasInput, let firstBytes, firstBytes.takesInput else { return }
        let held = input[inputStart...]
        input = []
        inputStart = 0
        held.withUnsafeBytes { firstBytes.take($0) }
        if phase != .intercepting { flush() }
    }

    /// The client has begun to speak: from here on it has the time of a handshake.
    func entranceHasBegun() { if !closesWhenDrained { setDeadline(worker.settings.timeouts.clientHandshake) } }

    /// What is in the tunnel is plain HTTP.
    func enter(_ tunnel: TunnelAuthority, plain octets: UnsafeRawBufferPointer) {
        beginInside(tunnel)
        keep(octets)
        readInside()
    }

    /// What is in the tunnel is in TLS that ends here.
    /// - Parameter records: what came behind the handshake.
    func enter(_ tunnel: TunnelAuthority, sealed records: UnsafeRawBufferPointer) {
        beginInside(tunnel)
        openChannel(records)
    }

    private func beginInside(_ tunnel: TunnelAuthority) {
        firstBytes = nil
        self.tunnel = tunnel
        phase = .idle
        setDeadline(worker.settings.timeouts.clientIdle)
    }

    // MARK: TLS

    /// What is sent from here on is TLS's.
    func beginTLS(_ session: ServerTLSSession) {
        channel.begin(session)
        // It has its first records to send.
        flushSoon()
    }

    /// The handshake with a listener has ended well.
    /// - Parameter user: the name in the client's certificate.
    func openTLS(user: [UInt8], with records: UnsafeRawBufferPointer) {
        firstBytes = nil
        self.user = user
        phase = .idle
        setDeadline(worker.settings.timeouts.clientHead)
        openChannel(records)
    }

    /// Reads what came behind a handshake.
    private func openChannel(_ records: UnsafeRawBufferPointer) {
        let buffer = worker.readBuffer
        switch channel.open(records, into: buffer) {
        case .bytes(let count):
            keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            readInside()
        case .wouldBlock, .needsMore: break
        case .ended, .cut, .failed: closesWhenDrained = true
        }
    }

    /// The handshake with a listener has failed. An alert may wait to be sent, and nobody waits for whether it arrives.
    func endHandshake() {
        _ = output.write(to: &channel)
        close()
    }

    private func readInside() {
        processInput()
        feedBody()
    }

    /// Nothing comes of the tunnel. The client is told by an alert, if there is one for it.
    func endInterception(with alert: TLSAlert?) {
        guard phase == .intercepting else { return }
        firstBytes = nil
        if let alert { output.buffer += alert.record }
        phase = .idle
        closesWhenDrained = true
        flushSoon()
    }
}
