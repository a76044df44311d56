import EventLoop
import HTTPMessage
import Metrics
import ProxyCore
import ProxyServer
import ResponseStore

/// The routes that monitoring reads: `/metrics`, `/livez` and `/readyz`.
package enum MetricsRoutes {
    package static func all(of process: StatusSource, server: ProxyServer, store: ResponseStore) -> [AdminRoute] {
        [
            AdminRoute(.get, "/metrics", .read) { request, exchange in
                let format = format(for: request)
                let reply = exchange.loop.reply { (answer: (LoopStatistics, MetricsSnapshot)) in
                    let report = MetricsReport(
                        process: process, mode: server.mode, loops: answer.0, metrics: answer.1, store: store.statistics,
                        approvals: server.approvals.counts, parentGroups: server.parentGroups)
                    exchange.answer(contentType: format.contentType, body: Array(format.text(of: report.families).utf8))
                }
                server.metrics(reply)
            },
            AdminRoute(.get, "/livez", .read) { _, exchange in exchange.answer(text: "ok\n") },
            AdminRoute(.get, "/readyz", .read) { _, exchange in
                if let reason = process.unreadyReason() {
                    exchange.answer(Status(503), text: "\(reason)\n")
                } else {
                    exchange.answer(text: "ok\n")
                }
            },
        ]
    }

    /// The format to send: OpenMetrics if the client prefers it, otherwise Prometheus text.
    private static func format(for request: AdminRequest) -> MetricsFormat {
        let fields = request.head.fields
        let isPreferred =
            Acceptance.weight(of: "application", "openmetrics-text", in: fields)
            > Acceptance.weight(of: "text", "plain", in: fields)
        return isPreferred ? .openMetrics : .prometheus
    }
}
