import HTTPMessage

/// Which route a request is for, and the requests that are for none: those of a browser's page, which may be led to any socket
/// that its user can reach, among them (T05, T06).
enum AdminRouting {
    static func answer(_ request: AdminRequest, by routes: [AdminRoute], _ exchange: AdminExchange) {
        guard namesUs(request.head) else {
            return exchange.refuse(Status(403), code: "foreign_host", detail: "The Host field names another server.")
        }
        guard !comesFromAPage(request.head.fields) else {
            return exchange.refuse(Status(403), code: "cross_site", detail: "Pages of a browser are not answered.")
        }
        let ofPath = routes.filter { $0.path == request.path }
        if let route = ofPath.first(where: { $0.method == request.head.method }) { return route.answer(request, exchange) }
        if ofPath.isEmpty {
            exchange.refuse(Status(404), code: "no_such_path", detail: "There is nothing under this path.")
        } else {
            let methods = ofPath.map { "\($0.method.name)" }.joined(separator: ", ")
            exchange.refuse(Status(405), code: "method_not_allowed", detail: "This path is for \(methods).")
        }
    }

    /// What clients write where there is no host to name.
    private static let ownNames: [StaticString] = ["larder", "localhost"]

    private static func namesUs(_ head: RequestHead) -> Bool {
        guard let line = head.fields.first(.host) else { return true }
        return ownNames.contains { head.fields.value(of: line).equalsIgnoringCase($0) }
    }

    /// No program but a browser sends these.
    private static func comesFromAPage(_ fields: Fields) -> Bool {
        ["origin", "sec-fetch-site"].contains { fields.index(ofName: Array($0.utf8).span) != nil }
    }
}
