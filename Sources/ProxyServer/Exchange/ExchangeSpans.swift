import HTTPMessage
import ProxyCore
import Telemetry

/// Makes the spans of a traced exchange: one for the client's request, and one for the request to the origin, if there was one.
struct ExchangeSpans {
    private let driver: ExchangeDriver
    private let telemetry: Telemetry

    /// The maximum length of a URL and of a host, in bytes.
    private enum Limit {
        static let url = 2048, host = 1024
    }

    init(_ driver: ExchangeDriver, to telemetry: Telemetry) {
        self.driver = driver
        self.telemetry = telemetry
    }

    func note() {
        guard let place = driver.exchange.traceContext else { return }
        let trace = driver.exchange.trace
        let start = UInt64(max(0, trace.receivedAt.milliseconds)) * 1_000_000
        let end = start + UInt64(max(0, driver.loop.now.microseconds(since: driver.startedAt))) * 1000
        var method = ""
        var url = ""
        driver.exchange.withHeads { request, _ in
            method = PolicyReports.text(request.span(of: request.methodName), limit: PolicyReports.methodLimit)
            url = PolicyReports.text(request.span(of: request.rawTargetBeforeQuery), limit: Limit.url)
        }
        let common: [(name: String, value: TraceSpan.Value)] = [("http.request.method", .text(method)), ("url.full", .text(url))]
        telemetry.note(
            TraceSpan(
                traceHigh: place.traceHigh, traceLow: place.traceLow, id: place.span, parent: place.parent, name: method,
                kind: .server, start: start, end: end, attributes: common + serverAttributes(), isError: trace.isServerError))
        guard trace.upstreamStatus != 0 || driver.fetch.metrics.remoteAddress != nil else { return }
        telemetry.note(
            TraceSpan(
                traceHigh: place.traceHigh, traceLow: place.traceLow, id: place.upstreamSpan, parent: place.span, name: method,
                kind: .client,
                start: start + UInt64(max(0, driver.fetch.metrics.openedAt.microseconds(since: driver.startedAt))) * 1000,
                end: end, attributes: common + upstreamAttributes(),
                isError: trace.isUpstreamError))
    }

    private func serverAttributes() -> [(name: String, value: TraceSpan.Value)] {
        let trace = driver.exchange.trace
        var attributes: [(name: String, value: TraceSpan.Value)] = [
            ("larder.id", .text(Hexadecimal.encode(padded: driver.exchange.id))),
            ("larder.mode", .text(driver.exchange.mode.word)),
            ("larder.cache", .text("\(trace.outcome.word)")), ("client.address", .text("\(driver.peer.address)")),
            ("network.protocol.version", .text(Self.text(driver.exchange.request.version))),
            ("http.response.body.size", .number(Int(clamping: driver.delivery.sentCount))),
        ]
        if trace.status != 0 { attributes.append(("http.response.status_code", .number(Int(trace.status)))) }
        if let reason = trace.reuse?.word { attributes.append(("larder.reuse", .text("\(reason)"))) }
        if let reason = trace.storage?.word { attributes.append(("larder.storage", .text("\(reason)"))) }
        let rule = driver.exchange.decidingRuleName
        if !rule.isEmpty { attributes.append(("larder.rule", .text(rule))) }
        if let fault = trace.fault { attributes.append(("error.type", .text("\(GatewayError(fault).code.text)"))) }
        return attributes
    }

    private func upstreamAttributes() -> [(name: String, value: TraceSpan.Value)] {
        let metrics = driver.fetch.metrics
        var attributes: [(name: String, value: TraceSpan.Value)] = [
            ("server.address", .text(String(decoding: driver.exchange.originHost.prefix(Limit.host), as: UTF8.self))),
            ("server.port", .number(Int(driver.exchange.originPort))),
            ("network.protocol.version", .text(Self.text(metrics.version))),
            ("larder.connection.reused", .flag(metrics.isConnectionReused)),
            ("larder.connect_us", .number(metrics.connectTime)), ("larder.first_byte_us", .number(metrics.firstByteTime)),
        ]
        if driver.exchange.trace.upstreamStatus != 0 {
            attributes.append(("http.response.status_code", .number(Int(driver.exchange.trace.upstreamStatus))))
        }
        if let address = metrics.remoteAddress { attributes.append(("network.peer.address", .text("\(address)"))) }
        return attributes
    }

    private static func text(_ version: HTTPVersion) -> String {
        version.major > 1 ? "\(version.major)" : "\(version.major).\(version.minor)"
    }
}
