import HTTPMessage
import ProxyCore
import Telemetry

/// Makes the spans of a traced exchange: one for the client's request, and one for the request to the origin, if there was one.
extension ExchangeDriver {
    /// The maximum length of a URL and of a host, in bytes.
    private enum Limit {
        static let url = 2048, host = 1024
    }

    func noteSpans() {
        guard let telemetry = worker.telemetry, let place = exchange.traceContext else { return }
        let trace = exchange.trace
        let start = UInt64(max(0, trace.receivedAt.milliseconds)) * 1_000_000
        let end = start + UInt64(max(0, loop.now.microseconds(since: startedAt))) * 1000
        var method = ""
        var url = ""
        exchange.withHeads { request, _ in
            method = PolicyReports.text(request.span(of: request.methodName), limit: PolicyReports.methodLimit)
            url = PolicyReports.text(request.span(of: request.rawTargetBeforeQuery), limit: Limit.url)
        }
        let common: [(name: String, value: TraceSpan.Value)] = [("http.request.method", .text(method)), ("url.full", .text(url))]
        telemetry.note(
            TraceSpan(
                traceHigh: place.traceHigh, traceLow: place.traceLow, id: place.span, parent: place.parent, name: method,
                kind: .server, start: start, end: end, attributes: common + serverAttributes(), isError: trace.status >= 500))
        guard trace.upstreamStatus != 0 || fetch.metrics.remoteAddress != nil else { return }
        telemetry.note(
            TraceSpan(
                traceHigh: place.traceHigh, traceLow: place.traceLow, id: place.upstreamSpan, parent: place.span, name: method,
                kind: .client, start: start + UInt64(max(0, fetch.metrics.openedAt.microseconds(since: startedAt))) * 1000,
                end: end, attributes: common + upstreamAttributes(),
                isError: trace.upstreamStatus == 0 || trace.upstreamStatus >= 400))
    }

    private func serverAttributes() -> [(name: String, value: TraceSpan.Value)] {
        let trace = exchange.trace
        var attributes: [(name: String, value: TraceSpan.Value)] = [
            ("larder.id", .text(Hexadecimal.encode(padded: exchange.id))), ("larder.mode", .text(exchange.mode.word)),
            ("larder.cache", .text("\(trace.outcome.word)")), ("client.address", .text("\(peer.address)")),
            ("network.protocol.version", .text(Self.text(exchange.request.version))),
            ("http.response.body.size", .number(Int(clamping: delivery.sentCount))),
        ]
        if trace.status != 0 { attributes.append(("http.response.status_code", .number(Int(trace.status)))) }
        if let reason = trace.reuse?.word { attributes.append(("larder.reuse", .text("\(reason)"))) }
        if let reason = trace.storage?.word { attributes.append(("larder.storage", .text("\(reason)"))) }
        let rule = exchange.decidingRuleName
        if !rule.isEmpty { attributes.append(("larder.rule", .text(rule))) }
        if let fault = trace.fault { attributes.append(("error.type", .text("\(GatewayError(fault).code.text)"))) }
        return attributes
    }

    private func upstreamAttributes() -> [(name: String, value: TraceSpan.Value)] {
        let metrics = fetch.metrics
        var attributes: [(name: String, value: TraceSpan.Value)] = [
            ("server.address", .text(String(decoding: exchange.originHost.prefix(Limit.host), as: UTF8.self))),
            ("server.port", .number(Int(exchange.originPort))),
            ("network.protocol.version", .text(Self.text(metrics.version))),
            ("larder.connection.reused", .flag(metrics.isConnectionReused)),
            ("larder.connect_us", .number(metrics.connectTime)), ("larder.first_byte_us", .number(metrics.firstByteTime)),
        ]
        if exchange.trace.upstreamStatus != 0 {
            attributes.append(("http.response.status_code", .number(Int(exchange.trace.upstreamStatus))))
        }
        if let address = metrics.remoteAddress { attributes.append(("network.peer.address", .text("\(address)"))) }
        return attributes
    }

    private static func text(_ version: HTTPVersion) -> String {
        version.major > 1 ? "\(version.major)" : "\(version.major).\(version.minor)"
    }
}
