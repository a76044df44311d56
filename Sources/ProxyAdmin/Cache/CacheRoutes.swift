import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyServer
import ResponseStore
import TextCoding

/// `/v1/cache/…`: inspects and purges the store of a running Larder. `larder cache` is its client.
package enum CacheRoutes {
    package static func all(_ store: ResponseStore, _ server: ProxyServer) -> [AdminRoute] {
        [
            AdminRoute(.get, "/v1/cache/entries", .read, parameters: filters + [output, AdminParameter("limit", .count)]) {
                request, exchange in
                guard let question = Question(request, exchange) else { return }
                exchange.stream(
                    contentType: question.form == .text ? "text/plain; charset=utf-8" : "application/json",
                    next: CacheAnswers.list(
                        CacheSource(store), question.filter, at: question.now, question.form, limit: question.limit))
            },
            AdminRoute(.get, "/v1/cache/tally", .read, parameters: filters + [output]) { request, exchange in
                guard let question = Question(request, exchange) else { return }
                exchange.stream(
                    contentType: question.contentType,
                    next: CacheAnswers.tally(
                        CacheSource(store), question.filter, at: question.now, isText: question.form == .text))
            },
            AdminRoute(.get, "/v1/cache/chains", .read) { _, exchange in
                exchange.stream(contentType: "application/json", next: CacheAnswers.chains(CacheSource(store)))
            },
            AdminRoute(
                .get, "/v1/cache/response", .read,
                parameters: choice + [output, AdminParameter("secrets", .words(["shown"]), isForSocket: true)]
            ) { request, exchange in
                guard let question = Question(request, exchange), let found = question.find(in: CacheSource(store)) else {
                    return
                }
                let details = found.map { ResponseDetail($0, at: question.now, showsSecrets: request["secrets"] == "shown") }
                if question.form == .text { return exchange.answer(text: details.map(\.text).joined(separator: "\n")) }
                exchange.answer(json: .array(details.map(\.json)))
            },
            AdminRoute(.get, "/v1/cache/body", .socket, parameters: choice + [AdminParameter("range")]) { request, exchange in
                let source = CacheSource(store)
                guard let question = Question(request, exchange), let found = question.find(in: source)?.first else { return }
                let bytes: Range<UInt64>
                do throws(FoundResponse.Refusal) {
                    bytes = try found.bytes(in: request["range"])
                } catch {
                    return exchange.refuse(error.status, code: error.code, detail: error.sentence)
                }
                exchange.stream(
                    contentType: "application/octet-stream", next: CacheAnswers.body(source, of: found.response, bytes))
            },
            AdminRoute(.post, "/v1/cache/verify", .read, parameters: [output]) { request, exchange in
                guard let question = Question(request, exchange) else { return }
                guard store.hasFile else {
                    return exchange.refuse(
                        Status(409), code: "in_memory", detail: "The store is in memory only: there is no file.")
                }
                exchange.stream(
                    contentType: question.contentType,
                    next: CacheAnswers.verification(CacheSource(store), isText: question.form == .text))
            },
            AdminRoute(
                .post, "/v1/cache/purge", .change,
                parameters: filters + [
                    output, AdminParameter("soft", .words(["yes", "no"])), AdminParameter("all", .words(["yes", "no"])),
                ]
            ) { request, exchange in
                guard let question = Question(request, exchange) else { return }
                guard !question.filter.isEmpty || request["all"] == "yes" else {
                    return exchange.refuse(
                        Status(400), code: "purges_everything",
                        detail: "Without a filter, this request would purge the whole store: add all=yes."
                    )
                }
                let report = PurgeReport()
                let isTaken = server.purge(
                    .matching(question.filter), isSoft: request["soft"] == "yes", at: question.now, report: report.take)
                guard isTaken else {
                    return exchange.refuse(
                        Status(503), code: "too_many_purges", detail: "Too many purges are in progress.")
                }
                exchange.stream(
                    contentType: question.contentType, next: CacheAnswers.purge(report, isText: question.form == .text))
            },
        ]
    }

    private static let filters = StoreFilter.Word.allCases.map { AdminParameter($0.rawValue, isRepeatable: $0 == .tag) }
    private static let output = AdminParameter("output", .words(CacheOutput.allCases.map(\.rawValue)))
    private static let choice = [AdminParameter("url"), AdminParameter("row", .integer)]

    /// The parameters of a request: which stored responses to select, and in which form to send them.
    private struct Question {
        var filter = StoreFilter()
        let form: CacheOutput
        let limit: Int?
        let now: Timestamp
        private let request: AdminRequest
        private let exchange: AdminExchange

        var contentType: StaticString { form == .text ? "text/plain; charset=utf-8" : "application/json" }

        /// - Returns: `nil` after sending the client an error response.
        init?(_ request: AdminRequest, _ exchange: AdminExchange) {
            self.request = request
            self.exchange = exchange
            now = Timestamp(milliseconds: exchange.loop.wallClockMilliseconds)
            form = request["output"].flatMap { CacheOutput(rawValue: $0) } ?? (request.wantsText ? .text : .json)
            limit = request["limit"].flatMap { Int($0) }
            for (name, value) in request.parameters {
                guard let word = StoreFilter.Word(rawValue: name) else { continue }
                if !filter.set(word, to: value) {
                    exchange.refuse(
                        Status(400), code: "bad_filter", detail: "The filter \(name) has the invalid value `\(printable(value))`."
                    )
                    return nil
                }
            }
        }

        /// The selected responses; `nil` after sending the client an error because there are none.
        func find(in source: CacheSource) -> [FoundResponse]? {
            let row = request["row"].flatMap { Int64($0) }
            guard let place = filter.url.map({ CacheSource.Place.url($0) }) ?? row.map({ .row($0) }) else {
                exchange.refuse(Status(400), code: "bad_filter", detail: "The parameter url or row is missing.")
                return nil
            }
            let found = (source.responses(place) ?? []).filter { row == nil || $0.response.row == row }
            if found.isEmpty { exchange.refuse(Status(404), code: "not_stored", detail: "No such response is stored.") }
            return found.isEmpty ? nil : found
        }
    }
}

extension FoundResponse.Refusal {
    fileprivate var status: Status {
        switch self {
        case .badRange: Status(400)
        case .unsatisfiable: Status(416)
        case .incomplete: Status(409)
        }
    }

    fileprivate var code: String {
        switch self {
        case .badRange: "bad_range"
        case .unsatisfiable: "range_not_satisfiable"
        case .incomplete: "stored_in_part"
        }
    }
}
