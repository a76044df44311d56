import HTTPCaching
import HTTPMessage
import HTTPWire
import UpstreamTransport

/// Delivers stored responses in the same form as responses received from the origin.
extension CachedCall {
    /// - Returns: `nil` if the stored response's body can no longer be read.
    func reused(_ stored: StoredResponse, age: DeltaSeconds) async throws(SessionError) -> TransferTask.OpenResponse? {
        let served = ServedHead(stored, age: age, withBody: head.method != .head)
        if served.length == 0 { return arrived(served, [], stored.trailers) }
        switch stored.body {
        case .bytes(let octets): return arrived(served, octets, stored.trailers)
        case .onDisk:
            guard let reader = cache.body(of: CachedResponse(stored)) else { return nil }
            // After the first byte is delivered, the request can no longer be sent to the origin instead.
            let first: [UInt8]
            do throws(CachedBodyLost) { first = try await reader.next() ?? [] } catch { return nil }
            if case .whole(let limit) = run.consumption {
                guard let octets = try await gather(first, reader, limit: limit) else { return nil }
                return arrived(served, octets, stored.trailers)
            }
            return fed(served, first, reader, stored.trailers)
        }
    }

    private func arrived(_ served: ServedHead, _ octets: [UInt8], _ trailers: Fields) -> TransferTask.OpenResponse {
        run.ledger.tell(.reused(request.uri))
        let link = makeLink()
        let isWhole = if case .whole = run.consumption { true } else { false }
        let end = link.fill(served.received, isWhole ? [] : octets, count: octets.count, trailers: trailers)
        return TransferTask.OpenResponse(
            served.received, to: request, link, end: isWhole ? end : nil, octets: isWhole ? octets : [],
            limits: run.session.configuration.limits)
    }

    private func makeLink() -> ResponseChannel {
        ResponseChannel(run.session.loops, place: 0, transfer: run.transfer, consumption: run.consumption)
    }

    private func gather(
        _ first: [UInt8], _ reader: any CachedBodyReading, limit: Int
    ) async throws(SessionError) -> [UInt8]? {
        var octets = first
        do throws(CachedBodyLost) {
            while let piece = try await reader.next() {
                octets += piece
                if octets.count > limit { break }
                if run.transfer.isCancelled { break }
            }
        } catch { return nil }
        if run.transfer.isCancelled { throw SessionError(.cancelled) }
        if octets.count > limit { throw SessionError(.bodyTooLarge) }
        return octets
    }

    /// A response whose body is read from the cache as the caller consumes it.
    private func fed(
        _ served: ServedHead, _ first: [UInt8], _ reader: any CachedBodyReading, _ trailers: Fields
    ) -> TransferTask.OpenResponse {
        run.ledger.tell(.reused(request.uri))
        let link = makeLink()
        let transfer = run.transfer
        link.received(served.received)
        if !transfer.attach(link) { link.ended(.cancelled) }
        transfer.passSuspension(to: link)
        Task {
            var piece: [UInt8]? = first
            do throws(CachedBodyLost) {
                while let octets = piece {
                    guard await link.feed(octets) else { return link.ended(.cancelled) }
                    piece = try await reader.next()
                }
                link.ended(nil, trailers: trailers)
            } catch { link.ended(.transport(.incompleteBody)) }
        }
        return TransferTask.OpenResponse(served.received, to: request, link, limits: run.session.configuration.limits)
    }
}

/// The head of a stored response, as it is delivered.
private struct ServedHead {
    let received: ResponseChannel.Head
    /// Length in bytes of the body that is delivered with this head.
    let length: UInt64

    init(_ stored: StoredResponse, age: DeltaSeconds, withBody: Bool) {
        length = withBody ? stored.body.length : 0
        var fields = stored.head.fields
        fields.remove(.age)
        fields.remove(.contentLength)
        if stored.head.status.code != 204 { fields.append(name: "Content-Length", value: "\(stored.body.length)") }
        fields.append(name: "Age", value: "\(age.seconds)")
        received = ResponseChannel.Head(
            status: stored.head.status, fields: fields, framing: withBody ? .length(length) : .none, metrics: ExchangeMetrics())
    }
}
