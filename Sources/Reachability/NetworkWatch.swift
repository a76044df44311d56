import CLarderLinux
import EventLoop

/// Listens to the kernel and performs the actions of `NetlinkConversation`. Confined to the monitor's loop.
final class NetworkWatch: EventHandler, TimerHandler {
    private let loop: EventLoop
    private let socket: NetlinkSocket
    private let board: StatusBoard
    private var conversation: NetlinkConversation
    private var registration: Registration?
    private var timer: TimerID?
    private var lastBegin: MonotonicTime?
    private let buffer: UnsafeMutableRawBufferPointer
    /// The status that the kernel reported; `unknown` before its first report.
    private var observed = ReachabilityStatus.unknown
    private var forced: ReachabilityStatus?

    /// The length of the buffer, in bytes. The kernel limits the length of its datagrams to the length of the reader's buffer.
    private static let bufferLength = 64 * 1024
    /// After this many datagrams the loop handles other events first.
    private static let readLimit = 64

    /// If the loop cannot watch the socket, the status stays unknown.
    init(_ loop: EventLoop, socket: NetlinkSocket, board: StatusBoard) {
        self.loop = loop
        self.socket = socket
        self.board = board
        conversation = NetlinkConversation(port: socket.port)
        buffer = .allocate(byteCount: Self.bufferLength, alignment: 16)
        guard let registration = try? loop.register(socket.descriptor, .read, handler: self) else { return }
        self.registration = registration
        timer = loop.makeTimer(self)
        begin()
    }

    deinit { buffer.deallocate() }

    /// Stops watching. The socket is closed when this object is released.
    func close() {
        if let registration { loop.deregister(registration) }
        if let timer { loop.removeTimer(timer) }
        registration = nil
        timer = nil
    }

    func force(_ status: ReachabilityStatus?) {
        forced = status
        tell()
    }

    func ready(_ events: ReadyEvents) {
        for _ in 0..<Self.readLimit {
            // Handling a datagram may end the watch.
            guard registration != nil else { return }
            do throws(NetlinkSocket.ReadError) {
                let count = try socket.receive(into: buffer)
                read(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            } catch {
                switch error {
                case .nothing: return
                case .lost: carryOut(conversation.lose())
                }
            }
        }
    }

    func deadlinePassed(_ timer: TimerID) { begin() }

    private func read(_ datagram: UnsafeRawBufferPointer) {
        let isWhole = datagram.withMemoryRebound(to: UInt8.self) { octets in
            NetlinkReader.readMessages(octets.span) { head, payload in
                guard let message = NetlinkMessage(head, payload) else { return }
                let isInterrupted = head.flags & UInt16(NLM_F_DUMP_INTR) != 0
                carryOut(conversation.receive(head, message, isInterrupted: isInterrupted))
            }
        }
        if !isWhole { carryOut(conversation.lose()) }
    }

    private func begin() {
        lastBegin = loop.now
        carryOut(conversation.begin())
    }

    private func carryOut(_ action: NetlinkConversation.Action) {
        switch action {
        case .none: return
        case .send(let subject, let sequence):
            if !socket.send(NetlinkRequest.octets(askingFor: subject, sequence: sequence)) {
                carryOut(conversation.couldNotSend())
            }
        case .beginAgain(let milliseconds): begin(after: milliseconds)
        case .tell(let milliseconds):
            observed = conversation.picture.status { LinkKind.kind(of: $0) }
            tell()
            if let milliseconds { begin(after: milliseconds) }
        }
    }

    /// Always uses the timer, so that messages that have already arrived are handled first.
    private func begin(after milliseconds: Int) {
        guard let timer else { return }
        let moment = lastBegin?.advanced(milliseconds: milliseconds) ?? loop.now
        loop.setTimer(timer, at: max(moment, loop.now))
    }

    private func tell() { board.tell(forced ?? observed) }
}
