import HTTPMessage
import TextCoding

/// Spans and log messages in OTLP/HTTP with JSON encoding (opentelemetry-proto 1.x): identifiers in hexadecimal, 64-bit numbers as strings.
struct OTLPText: Sendable {
    /// The name and value of each attribute of this process.
    let resource: [(String, String)]
    let version: String

    func traces(_ spans: [TraceSpan]) -> String {
        envelope("resourceSpans", "scopeSpans", "spans", spans.map(Self.json))
    }

    func logs(_ messages: [LogMessage]) -> String {
        envelope("resourceLogs", "scopeLogs", "logRecords", messages.map(Self.json))
    }

    private func envelope(_ resources: String, _ scopes: String, _ records: String, _ items: [JSONText]) -> String {
        let scope: JSONText = .object([("name", .string("larder")), ("version", .string(version))])
        let attributes = resource.map { Self.attribute($0.0, .string($0.1)) }
        return JSONText.object([
            (
                resources,
                .array([
                    .object([
                        ("resource", .object([("attributes", .array(attributes))])),
                        (scopes, .array([.object([("scope", scope), (records, .array(items))])])),
                    ])
                ])
            )
        ]).writtenInLine()
    }

    private static func json(_ span: TraceSpan) -> JSONText {
        var members: [(String, JSONText)] = [
            ("traceId", .string(Hexadecimal.encode(padded: span.traceHigh) + Hexadecimal.encode(padded: span.traceLow))),
            ("spanId", .string(Hexadecimal.encode(padded: span.id))),
        ]
        if let parent = span.parent { members.append(("parentSpanId", .string(Hexadecimal.encode(padded: parent)))) }
        members += [
            ("flags", .number(1)), ("name", .string(span.name)), ("kind", .number(span.kind.rawValue)),
            ("startTimeUnixNano", .string("\(span.start)")), ("endTimeUnixNano", .string("\(span.end)")),
            ("attributes", .array(span.attributes.map { attribute($0.name, value(of: $0.value)) })),
        ]
        // 2 is STATUS_CODE_ERROR. Otherwise the status stays unset, as the conventions for HTTP require.
        if span.isError { members.append(("status", .object([("code", .number(2))]))) }
        return .object(members)
    }

    private static func json(_ message: LogMessage) -> JSONText {
        .object([
            ("timeUnixNano", .string("\(message.time)")), ("severityNumber", .number(message.severity)),
            ("severityText", .string(message.level)), ("body", .object([("stringValue", .string(message.text))])),
        ])
    }

    private static func value(of value: TraceSpan.Value) -> JSONText {
        switch value {
        case .text(let text): .string(text)
        case .number(let number): .number(number)
        case .flag(let flag): .bool(flag)
        }
    }

    private static func attribute(_ name: String, _ value: JSONText) -> JSONText {
        let wrapped: JSONText =
            switch value {
            case .number(let number): .object([("intValue", .string("\(number)"))])
            case .bool(let flag): .object([("boolValue", .bool(flag))])
            default: .object([("stringValue", value)])
            }
        return .object([("key", .string(name)), ("value", wrapped)])
    }
}
