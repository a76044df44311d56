import EventLoop
import HTTPMessage
import TextCoding

/// One answer to be given on the admin socket: at once, later, or in pieces. Confined to the admin thread; a route that answers
/// later keeps it, and what is answered to a client that has left goes nowhere.
package final class AdminExchange {
    /// The admin thread's own, for replies from other threads.
    package let loop: EventLoop
    weak var connection: AdminConnection?
    private var hasAnswered = false

    init(_ connection: AdminConnection, on loop: EventLoop) {
        self.connection = connection
        self.loop = loop
    }

    /// The client has left, or was given up: nobody waits for an answer.
    package var isOver: Bool { connection == nil }

    package func answer(_ status: Status = .ok, json: JSONText) {
        answer(status, contentType: "application/json", body: Array((json.written() + "\n").utf8))
    }

    package func answer(_ status: Status = .ok, text: String) {
        answer(status, contentType: "text/plain; charset=utf-8", body: Array(text.utf8))
    }

    package func answer(_ status: Status = .ok, contentType: StaticString, body: [UInt8]) {
        guard begin() else { return }
        connection?.answer(status, contentType: contentType, body: body)
    }

    /// Problem details (RFC 9457). `code` is a word for programs, `detail` a sentence for people.
    /// - Parameter methods: The Allow field of a 405 (RFC 9110 §15.5.6).
    package func refuse(_ status: Status, code: String, detail: String, allowing methods: [String] = []) {
        guard begin() else { return }
        connection?.refuse(AdminProblem(status: status, code: code, detail: detail), allowing: methods)
    }

    /// Gives the answer out in pieces: `next` is called on the admin thread whenever the client has taken what there was.
    /// A piece takes 100 ms of the thread at most, so that others are answered meanwhile.
    package func stream(contentType: StaticString, next: @escaping () -> AdminPiece) {
        guard begin() else { return }
        connection?.stream(contentType: contentType, next: next)
    }

    private func begin() -> Bool {
        precondition(!hasAnswered, "a request is answered once")
        hasAnswered = true
        return connection != nil
    }
}

/// What comes next of an answer given out in pieces.
package enum AdminPiece {
    case piece([UInt8])
    case end
    /// What is left cannot be had: the connection ends so that the answer cannot be taken for complete.
    case broken
}

/// What is said of a request that came to nothing, for programs and for people.
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
