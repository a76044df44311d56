import HTTPMessage
import ProxyPolicy
import TextCoding

/// One thing that can be asked of a running Larder: a method and a path, and what answers.
///
/// The table of routes is a plain list, put together where the server is. `answer` runs on the admin thread, which belongs to
/// nothing else, and may take 100 ms of it; what takes longer is given out in pieces (`AdminExchange.stream`) or asked of
/// another thread and answered later (`AdminExchange.loop`).
package struct AdminRoute: Sendable {
    package let method: Method
    /// The whole path, `/v1/status`.
    package let path: String
    /// The names that its query may have, each of them once but for those with many.
    package let parameters: [AdminParameter]
    package let answer: @Sendable (AdminRequest, AdminExchange) -> Void

    package init(
        _ method: Method, _ path: String, parameters: [AdminParameter] = [],
        answer: @escaping @Sendable (AdminRequest, AdminExchange) -> Void
    ) {
        self.method = method
        self.path = path
        self.parameters = parameters
        self.answer = answer
    }
}

/// A name in a route's query, and what may stand behind it. What is not understood is refused: a misspelt word of a purge
/// would make it wider.
package struct AdminParameter: Sendable {
    package enum Form: Sendable {
        /// Judged by the route.
        case any
        /// 0 and more.
        case count
        case integer
        case words([String])
    }

    package let name: String
    package let form: Form
    package let isRepeatable: Bool

    package init(_ name: String, _ form: Form = .any, isRepeatable: Bool = false) {
        self.name = name
        self.form = form
        self.isRepeatable = isRepeatable
    }

    private func takes(_ value: String) -> Bool {
        switch form {
        case .any: true
        case .count: Int(value).map { $0 >= 0 } ?? false
        case .integer: Int64(value) != nil
        case .words(let words): words.contains(value)
        }
    }

    /// What is wrong with a request's query; `nil` where nothing is.
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
