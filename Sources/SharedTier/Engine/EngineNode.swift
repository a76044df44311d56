import EventLoop
import RESPWire

/// One engine: its connection, the pause before the next attempt to connect, and its breaker. Confined to its loop.
final class EngineNode: EngineConnectionOwner, TimerHandler {
    let address: EngineAddress
    private(set) var connection: EngineConnection?
    private(set) var greeting: EngineGreeting?
    private(set) var lastFailure: EngineFailure?
    var breaker = Breaker()
    /// Whether the topology or the settings still name the node.
    var isWanted = true
    private unowned let router: EngineRouter
    private let loop: EventLoop
    private var backoff = Backoff()
    private var timer: TimerID?
    private var isResolving = false
    private var isClosed = false

    init(_ address: EngineAddress, of router: EngineRouter, on loop: EventLoop) {
        self.address = address
        self.router = router
        self.loop = loop
        timer = loop.makeTimer(self)
    }

    var isOpen: Bool { connection?.state == .open }

    func connect() {
        guard connection == nil, !isResolving, !isClosed else { return }
        if let place = SocketAddress(address, isLiteral: true) { return connect(to: place) }
        isResolving = true
        router.resolver.resolve(
            address,
            reply: loop.reply { [weak self] (place: SocketAddress?) in
                guard let self else { return }
                isResolving = false
                if isClosed { return }
                if let place { connect(to: place) } else { failed(.unreachable) }
            })
    }

    private func connect(to place: SocketAddress) {
        connection = EngineConnection(to: address, at: place, on: loop, router.configuration, router.buffers, owner: self)
    }

    // MARK: The connection

    func didOpen(_ connection: EngineConnection, _ greeting: EngineGreeting) {
        self.greeting = greeting
        lastFailure = nil
        backoff.succeeded()
        breaker = Breaker()
        router.didOpen(self, greeting)
    }

    func didClose(_ connection: EngineConnection, because failure: EngineFailure) {
        let wasOpen = greeting != nil && lastFailure == nil
        self.connection = nil
        failed(failure)
        router.didClose(self, wasOpen: wasOpen, because: failure)
    }

    func received(push: [RESPValue], on connection: EngineConnection) { router.received(push: push) }

    private func failed(_ failure: EngineFailure) {
        lastFailure = failure
        guard isWanted, !isClosed, let timer else { return }
        loop.setTimer(timer, afterMilliseconds: backoff.failed(spread: router.random()))
    }

    func deadlinePassed(_ timer: TimerID) { if isWanted { connect() } }

    func close() {
        isClosed = true
        isWanted = false
        if let timer { loop.removeTimer(timer) }
        timer = nil
        // The last commands are sent before the connection ends.
        connection?.batchEnded()
        connection?.close(because: .closed)
    }
}
