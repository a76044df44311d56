import HTTPMessage
import ProxyPolicy
import ProxyServer
import TextCoding

/// `GET /v1/approvals`: the requests that wait for an approver. `POST /v1/approvals`: answers one of them.
package enum ApprovalRoutes {
    /// What came of writing an answer as a rule.
    package enum Writing: Sendable {
        case done
        /// The answer applies until Larder stops, but the file does not have it.
        case failed(reason: String)
    }

    /// Writes an answer as a rule, and calls `ended` later, on any thread.
    package typealias Write =
        @Sendable (HeldRequest, ApproverAnswer, _ ended: @escaping @Sendable (Writing) -> Void) -> Void

    /// - Parameters:
    ///   - file: the file for permanent answers; `nil` if the active settings name none.
    ///   - write: writes a rule into that file.
    package static func list(_ server: ProxyServer, file: @escaping @Sendable () -> String?) -> AdminRoute {
        AdminRoute(.get, "/v1/approvals", .read) { request, exchange in
            let waiting = server.approvals.waiting
            if request.wantsText { return exchange.answer(text: text(of: waiting)) }
            exchange.answer(
                contentType: "application/json",
                body: Array(
                    (JSONText.object([
                        ("asks", .bool(server.asksApprovers)), ("file", file().map(JSONText.string) ?? .null),
                        ("approvals", .array(waiting.map(\.json))),
                    ]).writtenInLine() + "\n").utf8))
        }
    }

    package static func answer(
        _ server: ProxyServer, file: @escaping @Sendable () -> String?, write: @escaping Write
    ) -> AdminRoute {
        AdminRoute(
            .post, "/v1/approvals", .change,
            parameters: [
                AdminParameter("id"), AdminParameter("answer", .words(["allow", "deny"])),
                AdminParameter("for", .words(ApproverAnswer.Lifetime.allCases.map(\.rawValue))),
                AdminParameter("scope", .words(ApprovalScopes.Scope.allCases.map(\.rawValue))),
            ]
        ) { request, exchange in
            guard let word = request["answer"] else {
                return exchange.refuse(Status(400), code: "missing_parameter", detail: "The parameter `answer` is missing.")
            }
            guard let id = request["id"], let number = RequestRoutes.id(id, exchange) else {
                if request["id"] == nil {
                    exchange.refuse(Status(400), code: "missing_parameter", detail: "The parameter `id` is missing.")
                }
                return
            }
            let answer = ApproverAnswer(
                allows: word == "allow", lifetime: request["for"].flatMap { .init(rawValue: $0) } ?? .once,
                scope: request["scope"].flatMap { .init(rawValue: $0) } ?? .request, approver: exchange.clientName)
            if answer.lifetime == .always, file() == nil {
                return exchange.refuse(
                    Status(409), code: "no_approvals_file",
                    detail: "The settings name no file for permanent answers: set approvals.file.")
            }
            apply(answer, to: number, request, exchange, server, write)
        }
    }

    private static func apply(
        _ answer: ApproverAnswer, to id: UInt64, _ request: AdminRequest, _ exchange: AdminExchange, _ server: ProxyServer,
        _ write: Write
    ) {
        switch server.answer(id, answer) {
        case .notHeld:
            exchange.refuse(
                Status(404), code: "not_waiting",
                detail: "No request with this id waits: it was answered already, its time is over, or its client left.")
        case .onlyOnce:
            exchange.refuse(
                Status(409), code: "only_once",
                detail: "No rule can match exactly this request. Answer it once, or for its host.")
        case .tooMany:
            exchange.refuse(Status(409), code: "too_many_answers", detail: "Larder remembers no further answers.")
        case .done(let held):
            guard answer.lifetime == .always else { return tell(answer, held, .done, request, exchange) }
            let reply = exchange.loop.reply { (writing: Writing) in tell(answer, held, writing, request, exchange) }
            write(held, answer) { reply.send($0) }
        }
    }

    private static func tell(
        _ answer: ApproverAnswer, _ held: HeldRequest, _ writing: Writing, _ request: AdminRequest, _ exchange: AdminExchange
    ) {
        if case .failed(let reason) = writing {
            return exchange.refuse(
                Status(500), code: "not_written",
                detail: "The answer applies until Larder stops, but it could not be written as a rule: \(reason).")
        }
        let verb = answer.allows ? "allowed" : "denied"
        if request.wantsText {
            return exchange.answer(text: printable("\(verb) \(held.method) \(held.url)", limit: 4096) + "\n")
        }
        exchange.answer(
            json: .object([
                ("id", .string(Hexadecimal.encode(padded: held.id))), ("verdict", .string(verb)),
                ("for", .string(answer.lifetime.rawValue)), ("scope", .string(answer.scope.rawValue)),
            ]))
    }

    private static func text(of waiting: [HeldRequest]) -> String {
        if waiting.isEmpty { return "no request waits\n" }
        return waiting.map { held in
            let client = held.user.isEmpty ? held.client : "\(held.user) at \(held.client)"
            let line =
                "\(Hexadecimal.encode(padded: held.id))  \(held.method) \(held.url)  from \(client), rule `\(held.rule)`, "
                + "\(held.question.allowsOtherwise ? "allowed" : "denied") at \(held.deadline.rfc3339)"
            return printable(line, limit: 4096) + "\n"
        }.joined()
    }
}

extension HeldRequest {
    /// The question, as programs get it.
    package var json: JSONText {
        var members: [(String, JSONText)] = [
            ("id", .string(Hexadecimal.encode(padded: id))), ("method", .string(method)), ("url", .string(url)),
            ("rule", .string(rule)), ("client", .string(client)), ("user", user.isEmpty ? .null : .string(user)),
            ("asked", .string(askedAt.rfc3339)), ("until", .string(deadline.rfc3339)),
            ("otherwise", .string(question.allowsOtherwise ? "allow" : "deny")),
        ]
        for scope in ApprovalScopes.Scope.allCases {
            members.append((scope.rawValue, scopes[scope].map { .string($0.text) } ?? .null))
        }
        return .object(members)
    }
}
