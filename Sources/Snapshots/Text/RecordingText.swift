import HTTPMessage
import ServerTrust

/// A recording as a text for review. The text has a head, then the request and the response, each with its original fields.
///
///     larder-recording 1
///     generation 1
///     position 0
///     started 1795415000000
///     phases - 1000 2000 - 10 500 20
///     protocol HTTP/1.1
///
///     > GET http://example.com:80/
///     > Accept: */*
///
///     <103
///     <103 Link: </style.css>; rel=preload
///     < 200 OK
///     < Content-Type: text/plain
///     < body sha256:… 5 … kept .txt
///
/// Lines after `>`, `<`, `<<` (trailers) and `<103` hold the original bytes of fields. The line that begins with `body` has no colon
/// after a name, so it is not a field. The text does not have the recording's identity, which is computed again when the text is read.
/// Positions are computed again too, in the order of the positions in the text.
enum RecordingText {
    static let firstLine = Array("larder-recording 1".utf8)
    /// This line begins a 103. Each of its fields follows on a line with this prefix and a space.
    static let earlyHintsLine = Array("<103".utf8)

    static func write(_ recording: Recording) -> [UInt8] {
        var text = firstLine + [ASCII.lf]
        func line(_ words: String) { text += Array(words.utf8) + [ASCII.lf] }
        line("generation \(recording.generation)")
        line("position \(recording.position)")
        line("started \(recording.times.started.milliseconds)")
        line("phases " + recording.times.phases.map { $0.map { String($0) } ?? "-" }.joined(separator: " "))
        text += Array("protocol ".utf8) + recording.protocolName + [ASCII.lf]
        if let chain = recording.chain { line("chain " + Hexadecimal.encode(chain.octets)) }
        if recording.isRedacted { line("redacted") }
        if let failure = recording.failure { line("failure \(failure.kind.word) \(failure.code)") }
        text.append(ASCII.lf)
        let request = Array("> ".utf8)
        text += request + recording.request.method + [ASCII.space] + recording.request.uri + [ASCII.lf]
        write(recording.request.fields, behind: request, to: &text)
        write(recording.request.body, of: recording.request.fields, behind: request, to: &text)
        guard let response = recording.response else { return text }
        let mark = Array("< ".utf8)
        text.append(ASCII.lf)
        for hints in response.earlyHints {
            text += earlyHintsLine + [ASCII.lf]
            write(hints, behind: earlyHintsLine + [ASCII.space], to: &text)
        }
        text += mark + Array("\(response.status.code) ".utf8) + response.reason + [ASCII.lf]
        write(response.fields, behind: mark, to: &text)
        write(response.body, of: response.fields, behind: mark, to: &text)
        write(response.trailers, behind: Array("<< ".utf8), to: &text)
        return text
    }

    private static func write(_ fields: Fields, behind mark: [UInt8], to text: inout [UInt8]) {
        for line in fields.lines {
            text += mark
            text += fields.bytes[line.name.range]
            text += [ASCII.colon, ASCII.space]
            text += fields.bytes[line.value.range]
            text.append(ASCII.lf)
        }
    }

    private static func write(_ body: RecordedBody?, of fields: Fields, behind mark: [UInt8], to text: inout [UInt8]) {
        guard let body else { return }
        let words = [
            "body", "sha256:" + Hexadecimal.encode(body.digest.octets), "\(body.length)", Hexadecimal.encode(body.pieces.octets),
            body.isKept ? "kept" : "digest", BodyName.suffix(for: fields),
        ]
        text += mark + Array(words.joined(separator: " ").utf8) + [ASCII.lf]
    }

    /// The content of a recording's text. The recording's identity is not computed yet.
    struct Parsed {
        var recording: Recording
        /// The file name suffixes of the files with the request's body and the response's body.
        var suffixes: [SHA256Digest: String] = [:]
    }

    /// - Throws: `malformed` with the line number.
    static func read(_ text: [UInt8]) throws(SnapshotError) -> Parsed {
        var reader = RecordingTextReader()
        var number = 0
        for line in text.split(separator: ASCII.lf, omittingEmptySubsequences: false) {
            number += 1
            guard reader.take(Array(line)) else { throw .malformed("line \(number) of a recording is invalid") }
        }
        guard let parsed = reader.parsed else { throw .malformed("a recording is incomplete") }
        return parsed
    }
}

/// The names of the body files in the folder.
enum BodyName {
    /// A file name suffix for people who open the file. It has no meaning when Larder reads the folder.
    static func suffix(for fields: Fields) -> String {
        if let coding = fields.first(.contentEncoding) {
            switch fields.text(of: coding.value) {
            case "gzip", "x-gzip": return ".gz"
            case "br": return ".br"
            case "zstd": return ".zst"
            default: return ".bin"
            }
        }
        guard let line = fields.first(.contentType) else { return ".bin" }
        let type = fields.text(of: line.value).prefix { $0 != ";" && $0 != " " }.lowercased()
        switch type {
        case "text/html": return ".html"
        case "text/css": return ".css"
        case "application/javascript", "text/javascript": return ".js"
        case "application/xml", "text/xml": return ".xml"
        case "application/json": return ".json"
        case "application/x-www-form-urlencoded": return ".txt"
        default: return type.hasSuffix("+json") ? ".json" : type.hasPrefix("text/") ? ".txt" : ".bin"
        }
    }

    static let suffixes: Set<String> = [".gz", ".br", ".zst", ".bin", ".html", ".css", ".js", ".xml", ".json", ".txt"]
}
