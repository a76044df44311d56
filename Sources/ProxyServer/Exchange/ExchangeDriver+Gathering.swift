import EventLoop
import HTTPMessage
import ProxyCore
import Recordings
import UpstreamTransport

/// The request's content where it stands in the key: it is gathered before anything is looked for.
extension ExchangeDriver {
    func gatherRequestBody() {
        upload.isGathering = true
        if exchange.awaitsContinue, let connection {
            let before = connection.output.buffer.count
            connection.output.buffer.append("HTTP/1.1 100 Continue\r\n\r\n")
            delivery.headCount += UInt64(connection.output.buffer.count - before)
        }
        requestBodyArrived()
    }

    /// What has become of bytes that were to be gathered.
    enum GatheredRequest {
        case taken
        /// It is too long: what was gathered is then sent on, and the rest as it comes.
        case tooLong
        /// Others' contents take all the memory that there is for them.
        case noRoom
    }

    func gather(_ bytes: RawSpan) -> GatheredRequest {
        if let longContent {
            longContent.append(bytes)
            return .taken
        }
        bytes.withUnsafeBytes { upload.content.append(contentsOf: $0) }
        let content = upload.content
        let share = gatheredShare ?? GatheredMemory.Share(worker.shared.requestMemory)
        gatheredShare = share
        guard share.grow(to: content.capacity, limit: exchange.context.limits.gatheredRequestBytes) else { return .noRoom }
        if content.count <= exchange.gatheredRequestLimit { return .taken }
        guard exchange.usesRecordings else { return .tooLong }
        longContent = LongRequestContent(content)
        guard exchange.isLongContentDigested else { return .tooLong }
        letGoOfGathered()
        return .taken
    }

    func letGoOfGathered() {
        gatheredShare = nil
        upload.content = []
    }

    func sendGatheredRequestBody(to upstream: OriginExchange) {
        if upload.framing == .none { return }
        if !upload.content.isEmpty {
            upload.isBlocked = !upstream.sendBody(upload.content.span) && !upload.isComplete
        }
        // Content in chunks may have turned out empty: its end is sent all the same.
        if upload.isComplete { upstream.endBody(trailers: HopByHop.endToEnd(upload.trailers, under: exchange.request.fields)) }
    }
}

/// A bounded wait for another's fetch.
extension ExchangeDriver: TimerHandler {
    func limitWait() {
        guard let wait = exchange.longestWait else { return }
        let timer = loop.makeTimer(self)
        waitTimer = timer
        loop.setTimer(timer, afterMilliseconds: Int(wait))
    }

    func endWait() {
        if let waitTimer { loop.removeTimer(waitTimer) }
        waitTimer = nil
    }

    func deadlinePassed(_ timer: TimerID) {
        if timer == transforming.timer { return transformingTookTooLong() }
        guard leaveJoined() else { return }
        handle(.waitEnded(at: worker.now))
        connection?.flush()
    }
}
