import HTTPMessage
import HTTPWire
import ProxyCore
import UpstreamTransport

/// A body that breaks off is continued by another exchange with the origin; what has come stays where it went.
extension ExchangeDriver {
    /// - Returns: whether the fetch goes on.
    func continues(brokenBy fault: Fault) -> Bool {
        guard mayContinue, exchange.continues(after: fetch.receivedCount, brokenBy: fault) else { return false }
        continueWhenDrained()
        return true
    }

    /// - Returns: whether what has ended was only a piece of what is wanted, and the fetch goes on.
    func continuesShortPiece() -> Bool {
        guard mayContinue, exchange.continuesShortPiece(after: fetch.receivedCount) else { return false }
        continueWhenDrained()
        return true
    }

    private var mayContinue: Bool {
        switch fetch.mode {
        case .none, .checked, .recording: false
        case .direct, .gathering, .pending, .checking: connection != nil || isWanted(readersBesides: 0)
        }
    }

    /// What lies in the pipe has to leave first: the beginning of the rest comes with its head, by way of the buffer before it.
    private func continueWhenDrained() {
        fetch.isUpstreamPaused = false
        fetch.isContinuationDue = true
        if delivery.pipe == nil || connection?.output.hasTail != true { continueFetch() }
    }

    func continueFetch() {
        fetch.isContinuationDue = false
        fetch.isContinuing = true
        openUpstream(body: .none) { exchange.writeContinuedHead(into: &$0) }
    }

    private func isOfRecordedServer(_ upstream: OriginExchange?) -> Bool {
        guard let recorded = exchange.upstream.chain else { return true }
        return upstream?.recordedChain?.digest == recorded.digest
    }

    func receiveContinuation(_ head: borrowing ResponseHead, _ framing: BodyFraming) {
        fetch.isContinuing = false
        // Under other policies, or of another chain than stands with what was begun, it is not the rest of that.
        guard fetch.upstream?.metrics.trustMark == exchange.upstream.trust, isOfRecordedServer(fetch.upstream),
            exchange.acceptsContinuation(copy head, body: framing.bodyLength)
        else {
            fetch.upstream?.cancel()
            fetch.upstream = nil
            fetchBroke(.responseIncomplete)
            return
        }
        if !exchange.keepsContinued(by: copy head, at: worker.now) {
            fetch.pending?.stopKeeping()
            removeOutdated()
            releaseJoined(.notShareable)
            // Nobody reads it, and the store is not to have it.
            if exchange.isBackground, fetch.pending?.readerCount ?? 0 == 0 { return abandonFetch() }
        }
        if let pipe = delivery.pipe { fetch.upstream?.divertBody(into: pipe.writeEnd, atMost: Pipe.capacity) }
    }
}
