import CertificateAuthority
import EventLoop
import Glibc
import HTTPMessage
import HTTPWire
import ProxyCore
import TLSChannel
import UpstreamTransport

/// The layers between a client's socket and its requests: TLS on a listener, and intercepted tunnels. Requests in a tunnel are for the
/// tunnel's origin.
extension ClientConnection: QueuedReader {
    /// Reads from the client into the loop's buffer; decrypts if the channel uses TLS.
    /// - Returns: the result of `recv`.
    func receive() -> Int {
        let buffer = worker.readBuffer
        if !channel.isSecured { return recv(descriptor, buffer.baseAddress, buffer.count, 0) }
        return receive(into: buffer)
    }

    /// Reads from the client into `buffer`, with or without TLS.
    private func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        switch channel.receive(into: buffer, through: worker.recordBuffers) {
        case .bytes(let count): return count
        case .wouldBlock: return failed(EAGAIN)
        case .needsMore:
            // Sends the replies that TLS itself makes, for example to key updates, at once. The number of unsent bytes is limited, because
            // a client could otherwise make it grow without end.
            let unsent = channel.unsentCount
            if unsent > Self.answersLimit { return failed(ECONNABORTED) }
            if unsent > 0 { flushSoon() }
            return failed(EAGAIN)
        case .ended, .cut: return 0
        case .failed:
            // TLS may have produced an alert, which is sent here.
            _ = output.write(to: &channel)
            return failed(ECONNABORTED)
        }
    }

    /// The maximum number of unsent bytes of TLS's own replies.
    static let answersLimit = 256 * 1024

    private func failed(_ code: Int32) -> Int {
        errno = code
        return -1
    }

    /// Lends storage for TLS records to the channel, for the response to a request.
    func lendRecords() {
        channel.withRecordStorage { if $0.capacity == 0 { worker.lend(to: &$0) } }
    }

    /// Takes back the storage for TLS records, so that between requests only the client's TLS keys stay in memory.
    func releaseRecords() {
        channel.withRecordStorage { if $0.capacity > 0 { worker.takeBack(&$0) } }
    }

    /// Starts a request inside a tunnel. The request is refused if it is not for the tunnel's origin.
    func start(_ framing: BodyFraming, in tunnel: TunnelAuthority, with driver: ExchangeDriver) {
        do throws(MisdirectedRequest) {
            try driver.exchange.request.resolve(in: tunnel)
            driver.start(framing)
        } catch {
            driver.exchange.request.nameOrigin(of: tunnel)
            driver.refuse(.misdirectedRequest(detail: StaticToken(error.reason)), framing)
        }
    }

    // MARK: First bytes

    /// Begins TLS on a listener.
    func handshake(_ tls: ListenerTLS) {
        isCertified = tls.asksForCertificates
        firstBytes = ListenerHandshake(worker, tls, on: self)
        phase = .handshaking
        setDeadline(worker.settings.timeouts.clientHandshake)
    }

    /// Begins an interception after the response to the CONNECT: the client's next bytes decide how the connection continues.
    func intercept(_ interceptor: ConnectInterceptor) {
        driver = nil
        // From here on, the connection waits for its turn in `worker.interceptions`, so it no longer waits for its turn as a newcomer of
        // the loop.
        admit()
        firstBytes = interceptor
        phase = .intercepting
        setDeadline(closesWhenDrained ? worker.settings.timeouts.lingering : interceptor.silenceLimit)
        // Earlier responses to this client may still wait to be written.
        flushSoon()
    }

    var isReadingFirstBytes: Bool { phase == .intercepting || phase == .handshaking }

    func readFirstBytes() {
        guard let firstBytes, firstBytes.takesInput else { return flush() }
        // The bytes are not read into the buffer for decrypted content, because records that follow the handshake are decrypted into that
        // buffer.
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
        // While the connection waits, it is edge-triggered, so that a failure is reported only once.
        if let registration { loop.modify(registration, .edgeTriggered) }
    }

    func resumeReading() {
        awaitsTurn = false
        if isReadingFirstBytes { readFirstBytes() } else if phase == .idle { readRequest() }
        if isReadingFirstBytes || phase == .idle { flush() }
    }

    /// Passes the bytes that were received together with the CONNECT to the reader of the first bytes.
    func feedInterceptor() {
        guard hasInput, let firstBytes, firstBytes.takesInput else { return }
        let held = input[inputStart...]
        input = []
        inputStart = 0
        held.withUnsafeBytes { firstBytes.take($0) }
        if phase != .intercepting { flush() }
    }

    /// Called when the client has sent its first byte: from here on, the time limit of a handshake applies.
    func entranceHasBegun() { if !closesWhenDrained { setDeadline(worker.settings.timeouts.clientHandshake) } }

    /// Continues with the requests in a tunnel that contains plain HTTP.
    func enter(_ tunnel: TunnelAuthority, plain octets: UnsafeRawBufferPointer, isHTTP2: Bool) {
        beginInside(tunnel)
        keep(octets)
        if isHTTP2 { HTTP2Connection.start(replacing: self) } else { readInside() }
    }

    /// Continues with the requests in a tunnel whose TLS ends here.
    /// - Parameter records: bytes received after the handshake.
    func enter(_ tunnel: TunnelAuthority, sealed records: UnsafeRawBufferPointer, isHTTP2: Bool) {
        beginInside(tunnel)
        openChannel(records, isHTTP2: isHTTP2)
    }

    private func beginInside(_ tunnel: TunnelAuthority) {
        firstBytes = nil
        self.tunnel = tunnel
        phase = .idle
        setDeadline(worker.settings.timeouts.clientIdle)
    }

    // MARK: TLS

    /// Begins TLS: from here on, all output is sent through it.
    func beginTLS(_ session: TLSSession) {
        channel.begin(session)
        // Sends the first records of the session.
        flushSoon()
    }

    /// Called when the handshake with a listener has succeeded.
    /// - Parameter names: the names in the client's certificate; the first name is the user name.
    func openTLS(certificateNames names: [[UInt8]], with records: UnsafeRawBufferPointer, isHTTP2: Bool) {
        firstBytes = nil
        certificateNames = names
        user = names.first ?? []
        phase = .idle
        setDeadline(worker.settings.timeouts.clientHead)
        openChannel(records, isHTTP2: isHTTP2)
    }

    /// Reads the bytes that followed a handshake.
    private func openChannel(_ records: UnsafeRawBufferPointer, isHTTP2: Bool) {
        let buffer = worker.readBuffer
        switch channel.open(records, into: buffer) {
        case .bytes(let count):
            keep(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            if !isHTTP2 { readInside() }
        case .wouldBlock, .needsMore: break
        case .ended, .cut, .failed: closesWhenDrained = true
        }
        if isHTTP2 { HTTP2Connection.start(replacing: self) }
    }

    /// Called when the handshake with a listener has failed. Sends a waiting alert, and closes without waiting until the client has
    /// received it.
    func endHandshake() {
        _ = output.write(to: &channel)
        close()
    }

    private func readInside() {
        processInput()
        feedBody()
    }

    /// Called when the interception has failed. Sends the client an alert, if there is one.
    func endInterception(with alert: TLSAlert?) {
        guard phase == .intercepting else { return }
        firstBytes = nil
        if let alert { output.buffer += alert.record }
        phase = .idle
        closesWhenDrained = true
        flushSoon()
    }
}
