import HTTPMessage

/// The body of an error response: problem details as JSON (RFC 9457), HTML or plain text, by the request's Accept.
///
/// The body contains facts of the request: the host, the differences from the recording and, in a suggested rule, the method and path. If a
/// server is not trusted, the body contains facts from its certificate. Each value is escaped for the format. The body contains no version
/// of Larder and no path of this machine.
package struct GatewayErrorBody {
    package enum Format: Sendable { case json, html, text }

    package let error: GatewayError
    package let requestID: UInt64
    /// The requested host; empty if none was parsed.
    package let host: String
    /// The name of the rule that decided; empty if no rule decided.
    package let rule: String
    /// The reason given by the rule's author; empty if the author gave no reason.
    package let reason: String
    /// The faults found by validation, outermost first (V3); empty if there was no validation.
    package let findings: ValidationFaults
    /// The origin's status, if it sent one.
    package let upstreamStatus: UInt16?
    /// Why the server is not trusted; `nil` if the error has another cause.
    package let trust: TrustRefusal?
    /// The recordings that are most similar to the request, if no recording matches it.
    package let nearest: NearMissReport?
    /// A command or page that gives more information; empty if there is none.
    package let hint: String
    /// The rule that would allow the request, as JSON; empty if no rule is suggested.
    package let suggestion: String

    package init(
        error: GatewayError, requestID: UInt64, host: String = "", rule: String = "", reason: String = "",
        findings: ValidationFaults = ValidationFaults(), upstreamStatus: UInt16? = nil, trust: TrustRefusal? = nil,
        nearest: NearMissReport? = nil, hint: String = "", suggestion: String = ""
    ) {
        self.error = error
        self.requestID = requestID
        self.host = host
        self.rule = rule
        self.reason = reason
        self.findings = findings
        self.upstreamStatus = upstreamStatus
        self.trust = trust
        self.nearest = nearest
        self.hint = hint
        self.suggestion = suggestion
    }

    /// JSON unless the request prefers HTML or plain text: a program is the usual client.
    package static func format(for request: RequestHead) -> Format {
        let fields = request.fields
        guard fields.contains(.accept) else { return .json }
        let json = max(
            Acceptance.weight(of: "application", "problem+json", in: fields),
            Acceptance.weight(of: "application", "json", in: fields))
        let html = Acceptance.weight(of: "text", "html", in: fields)
        let text = Acceptance.weight(of: "text", "plain", in: fields)
        if json >= html, json >= text { return .json }
        return html >= text ? .html : .text
    }

    package static func contentType(_ format: Format) -> StaticString {
        switch format {
        case .json: "application/problem+json"
        case .html: "text/html; charset=utf-8"
        case .text: "text/plain; charset=utf-8"
        }
    }

    package func write(_ format: Format, into output: inout [UInt8]) {
        switch format {
        case .json: writeJSON(into: &output)
        case .html: writeHTML(into: &output)
        case .text: writeText(into: &output)
        }
    }

    private func writeJSON(into output: inout [UInt8]) {
        output.append("{\"type\":\"about:blank\",\"title\":\"")
        output.append(error.explanation.text)
        output.append("\",\"status\":")
        output.append(decimal: UInt64(error.status.code))
        output.append(",\"code\":\"")
        output.append(error.code.text)
        output.append("\"")
        if let detail = error.detail {
            output.append(",\"detail\":\"")
            output.append(detail.text)
            output.append("\"")
        }
        output.append(",\"instance\":\"")
        output.append(hexadecimal: requestID)
        output.append("\"")
        writeJSONMember("host", host, into: &output)
        writeJSONMember("rule", rule, into: &output)
        writeJSONMember("reason", reason, into: &output)
        if !findings.isEmpty {
            output.append(",\"errors\":[")
            var isFirst = true
            findings.forEach { code in
                let row = GatewayError(Fault(code))
                output.append(isFirst ? "{\"code\":\"" : ",{\"code\":\"")
                isFirst = false
                output.append(row.code.text)
                output.append("\",\"detail\":\"")
                output.append(row.explanation.text)
                output.append("\"}")
            }
            output.append("]")
        }
        if let upstreamStatus {
            output.append(",\"upstream\":{\"status\":")
            output.append(decimal: UInt64(upstreamStatus))
            output.append("}")
        }
        if let trust {
            output.append(",\"tls\":")
            trust.writeJSON(into: &output)
        }
        if let nearest {
            output.append(",\"nearest\":")
            output.append(contentsOf: nearest.json)
        }
        writeJSONMember("hint", hint, into: &output)
        if !suggestion.isEmpty {
            output.append(",\"suggestion\":")
            output.append(contentsOf: suggestion.utf8)
        }
        output.append(error.isRetryable ? ",\"retryable\":true}\n" : ",\"retryable\":false}\n")
    }

    private func writeJSONMember(_ name: StaticString, _ value: String, into output: inout [UInt8]) {
        guard !value.isEmpty else { return }
        output.append(",\"")
        output.append(name)
        output.append("\":\"")
        output.append(escapingForJSON: value)
        output.append("\"")
    }

    private func writeHTML(into output: inout [UInt8]) {
        output.append("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>")
        output.append(decimal: UInt64(error.status.code))
        output.append(" ")
        output.append(error.status.reasonPhrase)
        output.append("</title></head>\n<body><h1>")
        output.append(error.explanation.text)
        output.append("</h1>\n<p>")
        output.append(error.code.text)
        if let detail = error.detail {
            output.append(" (")
            output.append(detail.text)
            output.append(")")
        }
        output.append("</p>\n")
        for (label, value) in labelledDetails where !value.isEmpty {
            output.append("<p>")
            output.append(label)
            output.append(": ")
            output.append(escapingForHTML: value)
            output.append("</p>\n")
        }
        output.append("<p>Request ")
        output.append(hexadecimal: requestID)
        output.append("</p></body></html>\n")
    }

    private func writeText(into output: inout [UInt8]) {
        output.append(error.explanation.text)
        output.append("\ncode: ")
        output.append(error.code.text)
        if let detail = error.detail {
            output.append("\ndetail: ")
            output.append(detail.text)
        }
        for (label, value) in labelledDetails where !value.isEmpty {
            output.append("\n")
            output.append(label)
            output.append(": ")
            for byte in value.utf8 { output.append(byte < 0x20 || byte == 0x7F ? ASCII.question : byte) }
        }
        output.append("\nrequest: ")
        output.append(hexadecimal: requestID)
        output.append("\n")
    }

    private var labelledDetails: [(StaticString, String)] {
        [("host", host), ("rule", rule), ("reason", reason)] + (trust?.lines ?? [])
            + (nearest?.lines.map { ("nearest", $0) } ?? []) + [("hint", hint), ("suggestion", suggestion)]
    }
}
