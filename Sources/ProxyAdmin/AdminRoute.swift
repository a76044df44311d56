import HTTPMessage

/// One thing that can be asked of a running Larder: a method and a path, and what answers.
///
/// The table of routes is a plain list, put together where the server is. `answer` runs on the admin thread, which belongs to
/// nothing else, and may take 100 ms of it; what takes longer is given out in pieces (`AdminExchange.stream`) or asked of
/// another thread and answered later (`AdminExchange.loop`).
package struct AdminRoute: Sendable {
    package let method: Method
    /// The whole path, `/v1/status`.
    package let path: String
    package let answer: @Sendable (AdminRequest, AdminExchange) -> Void

    package init(
        _ method: Method, _ path: String, answer: @escaping @Sendable (AdminRequest, AdminExchange) -> Void
    ) {
        self.method = method
        self.path = path
        self.answer = answer
    }
}
