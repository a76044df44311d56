import HTTPMessage
import HTTPSerialization
import ServerTrust

/// Writes recordings as HAR 1.2, one by one. No response body is held whole in memory.
package struct HARExport {
    /// Receives the text.
    package typealias Sink = (_ text: [UInt8]) throws(SnapshotError) -> Void

    private let snapshot: Snapshot
    private let tool: (name: String, version: String)

    package init(_ snapshot: Snapshot, tool: (name: String, version: String)) {
        self.snapshot = snapshot
        self.tool = tool
    }

    /// - Parameter isTaken: selects the recordings to write; by default all of them, in all generations.
    /// - Returns: the number of recordings written.
    package func write(taking isTaken: (Recording) -> Bool = { _ in true }, to sink: Sink) throws(SnapshotError) -> Int {
        let creator: JSONValue = ["name": .string(tool.name), "version": .string(tool.version)]
        try sink(
            Array("{\"log\":{\"version\":\"1.2\",\"creator\":".utf8) + creator.text() + Array(",\"pages\":[],\"entries\":[".utf8))
        var places: [(started: Timestamp, place: Int)] = []
        for place in 0..<snapshot.count {
            let recording = try snapshot.recording(at: place)
            if isTaken(recording) { places.append((recording.times.started, place)) }
        }
        places.sort { $0.started == $1.started ? $0.place < $1.place : $0.started < $1.started }
        for (number, entry) in places.enumerated() {
            if number > 0 { try sink([ASCII.comma, ASCII.lf]) }
            try write(snapshot.recording(at: entry.place), to: sink)
        }
        try sink(Array("]}}\n".utf8))
        return places.count
    }

    private func write(_ recording: Recording, to sink: Sink) throws(SnapshotError) {
        let total = Double(recording.times.total) / 1000
        try sink(
            Array("{\"startedDateTime\":\"\(RFC3339Time.text(recording.times.started))\",\"time\":".utf8)
                + Self.number(total).text()
                + Array(",\"request\":".utf8))
        try writeRequest(recording, to: sink)
        try sink(Array(",\"response\":".utf8))
        try writeResponse(recording, to: sink)
        try sink(Array(",\"cache\":{},\"timings\":".utf8) + Self.timings(recording.times).text() + Array("}".utf8))
    }

    private func writeRequest(_ recording: Recording, to sink: Sink) throws(SnapshotError) {
        let request = recording.request
        var members: [(String, JSONValue)] = [
            ("method", Self.text(request.method)), ("url", Self.text(Self.url(request.uri))),
            ("httpVersion", Self.text(recording.protocolName)), ("cookies", .array(Self.cookies(in: request.fields))),
            ("headers", .array(Self.fields(request.fields))), ("queryString", .array(Self.query(request.uri))),
            ("headersSize", -1), ("bodySize", .number(JSONNumber(request.body?.length ?? 0))),
        ]
        if let body = request.body {
            var data: [(String, JSONValue)] = [("mimeType", .string(Self.mediaType(request.fields))), ("params", [])]
            if body.isKept {
                let octets = try snapshot.octets(of: body)
                if let text = String(validating: octets, as: UTF8.self) {
                    data.append(("text", .string(text)))
                } else {
                    // HAR 1.2 has no member for the encoding of postData. Several tools use the member `_encoding`, and so does Larder.
                    data += [("text", .string(Base64.encode(octets))), ("_encoding", "base64")]
                }
            } else {
                data += [("text", ""), ("comment", .string("sha256:" + Hexadecimal.encode(body.digest.octets)))]
            }
            members.append(("postData", .object(JSONObject(data))))
        }
        try sink(JSONValue.object(JSONObject(members)).text())
    }

    private func writeResponse(_ recording: Recording, to sink: Sink) throws(SnapshotError) {
        let response = recording.response
        let fields = response?.fields ?? Fields()
        let location = fields.first(.location).map { fields.text(of: $0.value) } ?? ""
        let members: [(String, JSONValue)] = [
            ("status", .number(JSONNumber(response?.status.code ?? 0))), ("statusText", Self.text(response?.reason ?? [])),
            ("httpVersion", Self.text(recording.protocolName)), ("cookies", .array(Self.setCookies(in: fields))),
            ("headers", .array(Self.fields(fields))), ("redirectURL", .string(location)), ("headersSize", -1),
            ("bodySize", .number(JSONNumber(response?.body?.length ?? 0))),
        ]
        var head = JSONValue.object(JSONObject(members)).text()
        head.removeLast()
        if let failure = recording.failure {
            head += Array(",\"_error\":".utf8) + JSONValue.string("\(failure.kind.word): \(failure.code)").text()
        }
        try sink(head + Array(",\"content\":{\"mimeType\":".utf8) + JSONValue.string(Self.mediaType(fields)).text())
        var size = 0
        if let body = response?.body {
            try sink(Array(",\"encoding\":\"base64\",\"text\":\"".utf8))
            size = try writeContent(body, fields, to: sink)
            try sink([ASCII.quote])
        }
        try sink(Array(",\"size\":\(size)}}".utf8))
    }

    /// Writes a body in base64, with its content codings removed where possible.
    /// - Returns: the number of bytes written, before base64.
    private func writeContent(_ body: RecordedBody, _ fields: Fields, to sink: Sink) throws(SnapshotError) -> Int {
        let codings = fields.lines.filter { $0.known == .contentEncoding }.map { fields.text(of: $0.value) }
        let decoder = ContentDecoder(contentEncoding: codings, limits: CodingLimits(length: SnapshotLimits.bodyLength))
        var encoder = Base64Pieces()
        let reader = try snapshot.body(body)
        while let piece = try reader.next() {
            guard let decoder, !decoder.isIdentity else {
                try sink(encoder.next(piece))
                continue
            }
            var decoded: [UInt8] = []
            // If the encoded content is truncated, write the part that can be decoded: the recording is truncated at that place too.
            try? decoder.decode(piece.span) { decoded.append($0) }
            try sink(encoder.next(decoded))
        }
        try sink(encoder.finish())
        return encoder.count
    }

    // MARK: Values

    private static func text(_ octets: [UInt8]) -> JSONValue { .string(String(decoding: octets, as: UTF8.self)) }
    private static func number(_ value: Double) -> JSONValue { .number(JSONNumber(value) ?? JSONNumber(0)) }

    /// The URL without the scheme's default port, as browsers write it.
    private static func url(_ uri: [UInt8]) -> [UInt8] {
        let split = SplitURI(uri)
        for (scheme, port) in [("http://", ":80"), ("https://", ":443")] where split.origin.starts(with: Array(scheme.utf8)) {
            if split.origin.suffix(port.utf8.count).elementsEqual(port.utf8) {
                return split.origin.dropLast(port.utf8.count) + uri[split.origin.count...]
            }
        }
        return uri
    }

    private static func mediaType(_ fields: Fields) -> String {
        fields.first(.contentType).map { fields.text(of: $0.value) } ?? ""
    }

    private static func pair(_ name: some Sequence<UInt8>, _ value: some Sequence<UInt8>) -> JSONValue {
        ["name": text(Array(name)), "value": text(Array(value))]
    }

    private static func fields(_ fields: Fields) -> [JSONValue] {
        fields.lines.map { pair(fields.bytes[$0.name.range], fields.bytes[$0.value.range]) }
    }

    private static func query(_ uri: [UInt8]) -> [JSONValue] { SplitURI(uri).parameters.map { pair($0.name, $0.value) } }

    private static func cookies(in fields: Fields) -> [JSONValue] {
        fields.lines.filter { $0.known == .cookie }.flatMap { line in
            fields.bytes[line.value.range].split(separator: ASCII.semicolon).map { cookie($0) }
        }
    }

    private static func setCookies(in fields: Fields) -> [JSONValue] {
        fields.lines.filter { $0.known == .setCookie }.map {
            cookie(fields.bytes[$0.value.range].prefix { $0 != ASCII.semicolon })
        }
    }

    private static func cookie(_ text: ArraySlice<UInt8>) -> JSONValue {
        let text = text.drop(while: ASCII.isBlank)
        let name = text.prefix { $0 != ASCII.equals }
        return pair(name, text.dropFirst(name.count + 1))
    }

    /// The durations in milliseconds; -1 for phases that did not happen (section "timings" of HAR 1.2). `connect` includes TLS.
    private static func timings(_ times: RecordedTimes) -> JSONValue {
        func optional(_ phase: RecordedTimes.Phase) -> JSONValue { times[phase].map { number(Double($0) / 1000) } ?? -1 }
        func required(_ phase: RecordedTimes.Phase) -> JSONValue { number(Double(times[phase] ?? 0) / 1000) }
        let connect = times[.connect].map { number(Double($0 + (times[.tls] ?? 0)) / 1000) } ?? -1
        return [
            "blocked": optional(.blocked), "dns": optional(.dns), "connect": connect, "ssl": optional(.tls),
            "send": required(.send),
            "wait": required(.wait), "receive": required(.receive),
        ]
    }
}

/// Encodes bytes as base64, piece by piece.
struct Base64Pieces {
    private var rest: [UInt8] = []
    private(set) var count = 0

    mutating func next(_ octets: [UInt8]) -> [UInt8] {
        count += octets.count
        let all = rest + octets
        let whole = all.count / 3 * 3
        rest = Array(all[whole...])
        return Array(Base64.encode(Array(all[..<whole])).utf8)
    }

    func finish() -> [UInt8] { Array(Base64.encode(rest).utf8) }
}
