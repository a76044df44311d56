import EventLoop
import HTTPMessage
import TextCoding

/// The response to one request on the admin socket: sent at once, later, or in pieces. Confined to the admin thread. A route that responds
/// later keeps this object; a response to a client that has disconnected is dropped.
package final class AdminExchange {
    /// The admin thread's loop, for replies from other threads.
    package let loop: EventLoop
    weak var connection: AdminConnection?
    private var hasAnswered = false

    init(_ connection: AdminConnection, on loop: EventLoop) {
        self.connection = connection
        self.loop = loop
    }

    /// Whether the client has disconnected, or timed out.
    package var isOver: Bool { connection == nil }

    /// Who sends the request, for the audit log: a user of the socket by the kernel's word, or the page.
    package var clientName: String { connection?.clientName ?? "unknown" }

    package func answer(_ status: Status = .ok, json: JSONText) {
        answer(status, contentType: "application/json", body: Array((json.written() + "\n").utf8))
    }

    package func answer(_ status: Status = .ok, text: String) {
        answer(status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    /// - Parameter fields: further fields of the response. Their values have no control characters.
    package func answer(
        _ status: Status = .ok, contentType: StaticString, body: [UInt8], fields: [(name: StaticString, value: String)] = []
    ) {
        guard begin() else { return }
        connection?.answer(status, contentType: contentType, body: body, fields: fields)
    }

    /// Sends problem details (RFC 9457). `code` is for programs, `detail` is a sentence for people.
    /// - Parameter methods: the Allow field of a 405 (RFC 9110 §15.5.6).
    package func refuse(_ status: Status, code: String, detail: String, allowing methods: [String] = []) {
        guard begin() else { return }
        connection?.refuse(AdminProblem(status: status, code: code, detail: detail), allowing: methods)
    }

    /// Sends the response in pieces: `next` is called on the admin thread each time the client has accepted all previous data. Making a
    /// piece may take at most 100 ms, so that other clients are served in between.
    /// - Parameter closed: called once on the admin thread, when no further piece is needed.
    package func stream(
        contentType: StaticString, next: @escaping () -> AdminPiece, closed: (() -> Void)? = nil
    ) {
        guard begin(), let connection else {
            closed?()
            return
        }
        connection.stream(contentType: contentType, next: next, closed: closed)
    }

    /// Continues a streamed response after a piece that was `notYet`.
    func resume() { connection?.resume() }

    private func begin() -> Bool {
        precondition(!hasAnswered, "a request is answered once")
        hasAnswered = true
        return connection != nil
    }
}

/// The next piece of a streamed response.
package enum AdminPiece {
    case piece([UInt8])
    /// There is no further piece at present: `AdminExchange.resume` asks again.
    case notYet
    case end
    /// The rest of the response is not available: the connection is closed so that the client does not treat the response as complete.
    case broken
}

/// An error response, for programs and for people.
struct AdminProblem {
    let status: Status
    let code: String
    let detail: String

    var json: JSONText {
        .object([
            ("type", .string("about:blank")), ("title", .string("\(status.reasonPhrase)")), ("status", .number(Int(status.code))),
            ("code", .string(code)), ("detail", .string(detail)),
        ])
    }
}
