import HTTPCaching
import HTTPMessage
import HTTPSerialization
import ServerTrust

/// The result of importing a HAR file.
package struct HARImportReport: Equatable, Sendable {
    /// An entry of the HAR file with a remark about its import.
    package struct Entry: Equatable, Sendable {
        /// The index of the entry in the HAR file, counted from 0.
        package let index: Int
        package let reason: String
    }

    package internal(set) var recorded = 0
    package internal(set) var leftOut: [Entry] = []
    /// The imported entries whose recorded bytes may differ from the original bytes.
    package internal(set) var changed: [Entry] = []
}

/// Records the entries of a HAR file. The file may be from any tool: browsers remove content codings without saying so, and write
/// values that no HTTP message can contain.
package final class HARImport {
    private let recorder: SnapshotRecorder
    private var elements = HARElements()
    private var index = 0
    package private(set) var report = HARImportReport()

    package init(_ recorder: SnapshotRecorder) { self.recorder = recorder }

    /// Reads the next bytes of the file.
    package func append(_ octets: Span<UInt8>) throws(SnapshotError) {
        var entries: [[UInt8]] = []
        try elements.append(octets) { entries.append($0) }
        for entry in entries {
            if let reason = try record(entry) {
                report.leftOut.append(HARImportReport.Entry(index: index, reason: reason))
            } else {
                report.recorded += 1
            }
            index += 1
        }
    }

    package func finish() throws(SnapshotError) { try elements.finish() }

    /// - Returns: the reason why the entry was left out; `nil` if it was recorded.
    private func record(_ text: [UInt8]) throws(SnapshotError) -> String? {
        // The parser's error is not used: the report names the entry's index.
        guard let entry = try? JSONValue(parsing: text), let request = entry["request"], let response = entry["response"] else {
            return "not a HAR entry with a request and a response"
        }
        if entry["_webSocketMessages"] != nil { return "WebSocket messages cannot be recorded" }
        guard let status = response["status"]?.int, (200...599).contains(status) else {
            return "there is no final response with a status from 200 to 599"
        }
        if status == 304 { return "the status is 304: the complete response was in the browser's cache" }
        guard let uri = Self.uri(request["url"]?.string ?? "") else { return "the URL is neither http nor https" }
        guard let method = request["method"]?.string, !method.isEmpty, method.utf8.allSatisfy(ASCII.isTokenCharacter) else {
            return "the method is invalid"
        }
        let fields = Self.fields(request["headers"], cookies: request["cookies"])
        guard let sent = Self.requestBody(request, fields) else { return "the request body cannot be read" }
        var responseFields = Self.fields(response["headers"], cookies: nil)
        guard let received = Self.content(response, responseFields) else { return "the response body is missing" }
        let (requestBody, content) = (sent.octets, received.octets)
        let matched = RequestToMatch(
            method: Array(method.utf8), uri: uri, fields: fields, body: requestBody.isEmpty ? .none : .octets(requestBody))
        do throws(SnapshotError) {
            let exchange = try recorder.begin(matched)
            Self.describe(content, in: &responseFields)
            exchange.head(
                status: Status(UInt16(status)),
                reason: Array((response["statusText"]?.string ?? "").utf8).filter(ASCII.isFieldValueCharacter),
                fields: responseFields)
            try exchange.append(content.span)
            let version = (response["httpVersion"]?.string ?? "HTTP/1.1").utf8.filter { $0 > 0x20 && $0 < 0x7F }
            try exchange.finish(times: Self.times(entry), protocolName: Array(version.prefix(16)))
        } catch {
            // Only a failed write ends the import; any other error is reported for its entry.
            if case .database = error { throw error }
            return error.description
        }
        report.changed += [sent.change, received.change].compactMap { change in
            change.map { HARImportReport.Entry(index: index, reason: $0) }
        }
        return nil
    }

    private static func uri(_ text: String) -> [UInt8]? {
        let uri = Array(text.utf8.prefix { $0 != UInt8(ascii: "#") })
        guard let head = RequestHead(uri: uri.span, method: .get), head.target.form == .absolute else { return nil }
        return CacheKey(of: head).bytes
    }

    /// Leaves out HTTP/2 pseudo-fields and invalid fields. Adds cookies that the file lists only outside the fields.
    private static func fields(_ lines: JSONValue?, cookies: JSONValue?) -> Fields {
        var fields = Fields()
        for line in lines?.array ?? [] {
            guard let name = line["name"]?.string, let value = line["value"]?.string, FieldName(name) != nil,
                fields.count < SnapshotLimits.fieldLines
            else { continue }
            // If several lines have the same name, HAR joins their values into one value, with line feeds between them.
            for part in value.split(separator: "\n", omittingEmptySubsequences: false) {
                fields.append(name: name, value: String(decoding: part.utf8.filter(ASCII.isFieldValueCharacter), as: UTF8.self))
            }
        }
        let pairs = (cookies?.array ?? []).compactMap { cookie -> String? in
            guard let name = cookie["name"]?.string, let value = cookie["value"]?.string else { return nil }
            return "\(name)=\(value)"
        }
        let line = pairs.joined(separator: "; ")
        if !fields.contains(.cookie), !pairs.isEmpty, line.utf8.allSatisfy(ASCII.isFieldValueCharacter) {
            fields.append(name: "Cookie", value: line)
        }
        return fields
    }

    /// The bytes of a body, and a remark if these bytes may differ from the original bytes.
    private typealias Body = (octets: [UInt8], change: String?)

    /// - Returns: empty bytes if the request has no body; `nil` if its body is not available.
    private static func requestBody(_ request: JSONValue, _ fields: Fields) -> Body? {
        guard let data = request["postData"], !data.isNull else { return ([], nil) }
        if let text = data["text"]?.string {
            if data["_encoding"]?.string == "base64" { return Base64.decode(Array(text.utf8)).map { ($0, nil) } }
            return body(text, type(fields, else: data["mimeType"]), request["bodySize"]?.int)
        }
        let pairs = (data["params"]?.array ?? []).compactMap { parameter -> String? in
            guard let name = parameter["name"]?.string else { return nil }
            return FormEncoder.escape(name, .plus) + "=" + FormEncoder.escape(parameter["value"]?.string ?? "", .plus)
        }
        return (Array(pairs.joined(separator: "&").utf8), nil)
    }

    /// The content as a browser stores it: without content codings.
    /// - Returns: `nil` if the response had content that the HAR file does not contain.
    private static func content(_ response: JSONValue, _ fields: Fields) -> Body? {
        guard let content = response["content"], let text = content["text"]?.string else {
            let size = response["content"]?["size"]?.int ?? response["bodySize"]?.int ?? 0
            return size > 0 ? nil : ([], nil)
        }
        if content["encoding"]?.string == "base64" { return Base64.decode(Array(text.utf8)).map { ($0, nil) } }
        return body(text, type(fields, else: content["mimeType"]), content["size"]?.int)
    }

    private static func body(_ text: String, _ contentType: String, _ length: Int?) -> Body {
        let text = HARText(text, contentType: contentType, length: length)
        return (text.octets, text.change)
    }

    private static func type(_ fields: Fields, else mediaType: JSONValue?) -> String {
        fields.first(.contentType).map { fields.text(of: $0.value) } ?? mediaType?.string ?? ""
    }

    /// Removes or corrects the fields about length and content codings that are no longer true.
    private static func describe(_ content: [UInt8], in fields: inout Fields) {
        let hadLength = fields.contains(.contentLength)
        fields.remove { _, line in
            line.known == .contentEncoding || line.known == .contentLength || line.known == .transferEncoding
        }
        if hadLength { fields.append(name: "Content-Length", value: "\(content.count)") }
    }

    /// HAR times are in milliseconds, and `connect` includes TLS.
    private static func times(_ entry: JSONValue) -> RecordedTimes {
        func microseconds(_ name: String) -> Int64? {
            guard let value = entry["timings"]?[name]?.double, value >= 0, value < 1e9 else { return nil }
            return Int64(value * 1000)
        }
        let tls = microseconds("ssl")
        let connect = microseconds("connect").map { max(0, $0 - (tls ?? 0)) }
        let started = entry["startedDateTime"]?.string.flatMap(RFC3339Time.read) ?? Timestamp(seconds: 0)
        return RecordedTimes(
            started: started,
            phases: [
                microseconds("blocked"), microseconds("dns"), connect, tls, microseconds("send"), microseconds("wait"),
                microseconds("receive"),
            ])
    }
}
