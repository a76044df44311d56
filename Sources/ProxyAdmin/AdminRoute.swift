import HTTPMessage
import ProxyPolicy
import TextCoding

/// One operation of the admin API: a method and a path, and the code that responds.
///
/// The table of routes is a plain list, assembled next to the server. `answer` runs on the admin thread, which has no other work, and may
/// take 100 ms of it. A longer response is streamed in pieces (`AdminExchange.stream`), or computed on another thread and sent later
/// (`AdminExchange.loop`).
package struct AdminRoute: Sendable {
    /// What a client needs for the route.
    package enum Access: Sendable {
        /// The route changes nothing, and reveals no secret.
        case read
        case change
        /// The route is only for clients of the admin socket, not for the page.
        case socket
    }

    package let method: Method
    /// The complete path, for example `/v1/status`. A path that ends with `/*` stands for all paths with one segment in place of the star.
    package let path: String
    package let access: Access
    /// The parameters that the request's query may have. A parameter may occur only once, unless it is repeatable.
    package let parameters: [AdminParameter]
    package let answer: @Sendable (AdminRequest, AdminExchange) -> Void

    package init(
        _ method: Method, _ path: String, _ access: Access, parameters: [AdminParameter] = [],
        answer: @escaping @Sendable (AdminRequest, AdminExchange) -> Void
    ) {
        self.method = method
        self.path = path
        self.access = access
        self.parameters = parameters
        self.answer = answer
    }

    /// The route for the page; `nil` if the page may not use it.
    package var forPage: AdminRoute? {
        if access == .socket { return nil }
        return AdminRoute(method, path, access, parameters: parameters.filter { !$0.isForSocket }, answer: answer)
    }

    func has(path: String) -> Bool {
        guard self.path.hasSuffix("/*") else { return self.path == path }
        let start = self.path.utf8.count - 1
        return path.hasPrefix(self.path.dropLast()) && path.utf8.count > start
            && !path.utf8.dropFirst(start).contains(ASCII.slash)
    }
}

/// A parameter of a route's query, and the form of its value. Unknown parameters and values are refused: otherwise a purge with a
/// misspelled filter would remove too much.
package struct AdminParameter: Sendable {
    package enum Form: Sendable {
        /// Any value; the route checks it.
        case any
        /// A number, 0 or more.
        case count
        case integer
        case words([String])
    }

    package let name: String
    package let form: Form
    package let isRepeatable: Bool
    /// Whether the page may not use the parameter.
    package let isForSocket: Bool

    package init(_ name: String, _ form: Form = .any, isRepeatable: Bool = false, isForSocket: Bool = false) {
        self.name = name
        self.form = form
        self.isRepeatable = isRepeatable
        self.isForSocket = isForSocket
    }

    private func takes(_ value: String) -> Bool {
        switch form {
        case .any: true
        case .count: Self.isDecimal(value) && Int(value) != nil
        case .integer: Self.isDecimal(value.hasPrefix("-") ? value.dropFirst() : value[...]) && Int64(value) != nil
        case .words(let words): words.contains(value)
        }
    }

    /// Whether the text is digits alone. Swift also reads a number with a sign, such as `+1`.
    static func isDecimal(_ text: some StringProtocol) -> Bool { !text.isEmpty && text.utf8.allSatisfy(ASCII.isDigit) }

    /// The error in a request's query; `nil` if there is none.
    static func fault(of request: AdminRequest, for parameters: [AdminParameter]) -> AdminProblem? {
        var seen: Set<String> = []
        for (name, value) in request.parameters {
            let shown = printable(name)
            guard let parameter = parameters.first(where: { $0.name == name }) else {
                let hint = NearestName.of(name, among: parameters.map(\.name)).map { "; did you mean `\($0)`?" } ?? "."
                return AdminProblem(
                    status: Status(400), code: "unknown_parameter", detail: "This path has no parameter `\(shown)`\(hint)")
            }
            if !seen.insert(name).inserted, !parameter.isRepeatable {
                return AdminProblem(
                    status: Status(400), code: "repeated_parameter", detail: "The parameter `\(shown)` is given twice.")
            }
            if !parameter.takes(value) {
                return AdminProblem(
                    status: Status(400), code: "bad_parameter",
                    detail: "The parameter \(shown) has the invalid value `\(printable(value))`.")
            }
        }
        return nil
    }
}
