import EventLoop
import Foundation
import Testing

@testable import Telemetry

@Suite("Traces and logs for OpenTelemetry")
struct TelemetryTests {
    private static func span(_ number: UInt64) -> TraceSpan {
        TraceSpan(
            traceHigh: 1, traceLow: 2, id: number, parent: number == 1 ? nil : 1, name: "GET",
            kind: number == 1 ? .server : .client,
            start: 1_000_000_000, end: 2_000_000_000,
            attributes: [
                ("url.full", .text("http://a.test/\"x\"")), ("server.port", .number(80)),
                ("larder.connection.reused", .flag(true)),
            ],
            isError: number == 2)
    }

    private func batches(_ telemetry: Telemetry) async -> [Telemetry.Batch] {
        telemetry.close()
        return await telemetry.batches.reduce(into: []) { $0.append($1) }
    }

    @Test(
        "Spans and messages have the form of OTLP: hexadecimal identifiers, numbers of 64 bits as strings, a status only for errors"
    )
    func form() async throws {
        let telemetry = try Telemetry(resource: [("service.name", "larder")], version: "1")
        telemetry.note(Self.span(1))
        telemetry.note(Self.span(2))
        telemetry.note(LogMessage(severity: 13, level: "warning", text: "the disk is full", time: 5))
        let batches = await batches(telemetry)
        #expect(batches.map(\.path) == ["/v1/traces", "/v1/logs"] && batches.map(\.itemCount) == [2, 1])
        let spans = #"""
            {"traceId":"00000000000000010000000000000002","spanId":"0000000000000001","flags":1,"name":"GET","kind":2,"startTimeUnixNano":"1000000000","endTimeUnixNano":"2000000000","attributes":[{"key":"url.full","value":{"stringValue":"http://a.test/\"x\""}},{"key":"server.port","value":{"intValue":"80"}},{"key":"larder.connection.reused","value":{"boolValue":true}}]}
            """#
        let text = String(decoding: batches[0].body, as: UTF8.self)
        #expect(text.contains(spans))
        #expect(
            text.contains(#""parentSpanId":"0000000000000001","flags":1,"name":"GET","kind":3"#)
                && text.contains(#""status":{"code":2}"#))
        #expect(
            text.hasPrefix(
                #"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"larder"}}]},"scopeSpans":[{"scope":{"name":"larder","version":"1"},"spans":["#
            ))
        let logs = String(decoding: batches[1].body, as: UTF8.self)
        #expect(
            logs.contains(
                #""logRecords":[{"timeUnixNano":"5","severityNumber":13,"severityText":"warning","body":{"stringValue":"the disk is full"}}]"#
            ))
    }

    @Test("Without a sender, further batches are dropped and counted, and nothing waits")
    func bounded() async throws {
        let telemetry = try Telemetry(resource: [], version: "1")
        let count = 40_000
        for number in 0..<count { telemetry.note(Self.span(UInt64(number) + 1)) }
        let batches = await batches(telemetry)
        let sent = batches.reduce(0) { $0 + $1.itemCount }
        #expect(batches.count <= 16 && sent > 0)
        #expect(telemetry.droppedCount == UInt64(count - sent))
    }
}
