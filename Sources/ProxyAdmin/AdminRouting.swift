import HTTPMessage

/// Finds the route for a request, and refuses all others, including requests from web pages. A page may be able to send requests to any
/// socket that its user can reach (threats T05 and T06).
enum AdminRouting {
    static func answer(
        _ request: AdminRequest, by routes: [AdminRoute], for clients: AdminListener.Clients, _ exchange: AdminExchange
    ) {
        if case .page(let access) = clients {
            guard access.admits(request, exchange) else { return }
        } else {
            guard clients.permitEveryName || namesUs(request.head) else {
                return exchange.refuse(Status(403), code: "foreign_host", detail: "The Host field names a different server.")
            }
            guard !comesFromAPage(request.head.fields) else {
                return exchange.refuse(Status(403), code: "cross_site", detail: "The admin API rejects requests from web pages.")
            }
        }
        let ofPath = routes.filter { $0.has(path: request.path) }
        guard !ofPath.isEmpty else {
            return exchange.refuse(Status(404), code: "no_such_path", detail: "This path does not exist.")
        }
        // HEAD is GET without the content in the response (RFC 9110 §9.3.2).
        let method = request.head.method == .head ? .get : request.head.method
        guard let route = ofPath.first(where: { $0.method == method }) else {
            let methods = ofPath.flatMap { $0.method == .get ? ["GET", "HEAD"] : ["\($0.method.name)"] }
            return exchange.refuse(
                Status(405), code: "method_not_allowed", detail: "This path supports only \(methods.joined(separator: ", ")).",
                allowing: methods)
        }
        if let fault = AdminParameter.fault(of: request, for: route.parameters) {
            return exchange.refuse(fault.status, code: fault.code, detail: fault.detail)
        }
        route.answer(request, exchange)
    }

    /// The values of the Host field that clients send to a Unix socket, which has no host name.
    private static let ownNames = ["larder", "localhost"]

    private static func namesUs(_ head: RequestHead) -> Bool {
        guard let line = head.fields.first(.host) else { return true }
        let host = head.fields.text(of: line.value)
        let parts = host.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        // Some clients send a port in Host. It has no meaning for a Unix socket.
        guard parts.count == 1 || parts[1].utf8.allSatisfy(ASCII.isDigit) else { return false }
        return ownNames.contains(parts[0].lowercased())
    }

    /// Whether the request has a field that only browsers send.
    private static func comesFromAPage(_ fields: Fields) -> Bool {
        ["origin", "sec-fetch-site"].contains { fields.index(ofName: Array($0.utf8).span) != nil }
    }
}
