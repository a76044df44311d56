import HTTPMessage

extension HTTPSession {
    /// Opens a WebSocket (RFC 6455). The session's trust, pins, cookies, credentials, redirects, retries, interceptors and proxy apply to
    /// the handshake as to any request. The session requests a tunnel (CONNECT) from an upstream proxy, also for `ws`. If the session has
    /// an HTTP/2 connection to an origin that supports WebSockets in HTTP/2 (RFC 8441), the WebSocket uses a stream of it.
    ///
    /// The WebSocket is one of the session's `transfers()` until it is closed; cancelling the transfer ends the connection at once.
    /// - Parameters:
    ///   - request: a GET request without content. Its scheme may be `ws`, `wss`, `http` or `https`.
    ///   - options: subprotocols, compression, limits and times.
    ///   - transfer: observes and controls the call; a new one for each call.
    /// - Throws: the errors of any request; `websocket_refused` if the server answers with another status than 101, or its answer is not a
    ///   valid handshake. `SessionError.response` then has the response's head.
    public func webSocket(
        _ request: SessionRequest, options: WebSocketOptions = WebSocketOptions(), as transfer: Transfer = Transfer()
    ) async throws(SessionError) -> WebSocket {
        var request = request
        request.target = try WebSocketOpening.target(request.target)
        try WebSocketOpening.check(request, options)
        let scope = try TransferScope(self, request, transfer)
        let opening = WebSocketOpening(options)
        let consumption = ResponseChannel.BodyConsumption.pieces(window: configuration.limits.unreadBodyLength)
        let socket = try await scope.run { () -> Result<WebSocket, SessionError> in
            let result = await TransferTask(
                scope, request, consumption: consumption, prepared: scope.prepared, opening: opening
            ).result()
            switch result {
            case .failure(let error):
                opening.abandon()
                return .failure(error)
            case .success(let arrived):
                if let opened = opening.take() { return .success(WebSocket(opened, arrived, self)) }
                arrived.discard()
                return .failure(opening.failure(arrived))
            }
        }
        socket.observe(by: scope)
        return socket
    }

    /// Opens a WebSocket to this URI, or relative reference if the session has a base.
    public func webSocket(
        _ target: String, options: WebSocketOptions = WebSocketOptions(), as transfer: Transfer = Transfer()
    ) async throws(SessionError) -> WebSocket {
        try await webSocket(SessionRequest(.get, target), options: options, as: transfer)
    }
}
