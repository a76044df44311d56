import HTTPCaching
import HTTPMessage
import ProxyCore

/// Several parts of a stored body in one message, each with a head of its own (RFC 9110 §14.6).
extension ExchangeDriver {
    /// Called when the message's head has been written.
    func sendParts(of body: StoredBody) {
        delivery.offset = 0
        delivery.end = 0
        switch body {
        case .bytes(let bytes):
            delivery.source = .parts
            delivery.bytes = bytes
        case .onDisk(let body):
            delivery.source = .disk
            delivery.body = body
            if delivery.recorded == nil { delivery.hold = worker.store.hold(body) }
        }
        pump()
    }

    func pumpParts(_ connection: ClientConnection) -> Bool {
        if delivery.offset >= delivery.end { return endPart(connection) }
        let range = Int(delivery.offset)..<Int(delivery.end)
        delivery.offset = delivery.end
        send(.bytes(delivery.bytes), range, on: connection)
        return true
    }

    /// What was to be sent in one piece has been: the next part follows, or the end.
    /// - Returns: whether there is more to send.
    func endPart(_ connection: ClientConnection) -> Bool {
        if beginSegment() { return true }
        guard let multipart = exchange.delivery.multipart else { return endBody(exchange.cache.selected?.trailers ?? Fields()) }
        let before = connection.output.buffer.count
        defer { delivery.sentCount &+= UInt64(truncatingIfNeeded: connection.output.buffer.count &- before) }
        guard delivery.begunPartCount < multipart.parts.count else {
            multipart.writeEnd(into: &connection.output.buffer)
            return endBody(Fields())
        }
        let part = multipart.parts[delivery.begunPartCount]
        multipart.writePartHead(delivery.begunPartCount, into: &connection.output.buffer)
        delivery.begunPartCount += 1
        delivery.offset = part.lowerBound
        delivery.end = part.upperBound
        return true
    }
}
