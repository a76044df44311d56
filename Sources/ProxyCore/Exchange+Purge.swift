import HTTPCaching
import HTTPMessage

/// The method PURGE: a client that may asks that what is stored under a URL go, with all its variants and under all keys that rules give it.
extension Exchange {
    /// A method of no RFC; other caches have it under this name.
    var isPurge: Bool { request.span(of: request.methodName).equals("PURGE") }

    mutating func receivePurge(at now: Timestamp, into commands: inout CommandBuffer) {
        if context.purgeClients.isEmpty { return fail(.purgeOff, at: now, into: &commands) }
        guard let clientAddress = incoming.sender?.address, context.purgeClients.contains(where: { $0.contains(clientAddress) })
        else {
            return fail(.purgeNotAllowed, at: now, into: &commands)
        }
        incoming.purge = RequestState.Purge(keys: keys(forURIsIn: [CacheKey(of: request).bytes]))
        state = .purging
        commands.append(.purge)
    }

    mutating func purged(_ count: Int?, at now: Timestamp, into commands: inout CommandBuffer) {
        guard let count else { return fail(.overloaded, at: now, into: &commands) }
        incoming.purge?.count = count
        trace.outcome = .local
        trace.status = 200
        delivery.chooseGenerated(.ok, closes: false)
        state = .delivering
        commands.append(.sendLocal)
    }
}
