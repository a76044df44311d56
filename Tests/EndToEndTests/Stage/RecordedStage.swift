import Foundation
import ProxyServer
import Recordings
import TestSupport

/// An origin, a recording of it, and proxies that record and replay.
final class RecordedStage {
    let origin: ScriptedOrigin
    let folder: TestFolder
    private var proxies: [TestProxy] = []

    var path: String { "\(folder.path)/test.larder" }

    typealias Answer = @Sendable (OriginRequest, _ body: [UInt8], borrowing OriginConnection) -> Bool

    init(_ answer: @escaping Answer = RecordedStage.answersPath) throws {
        origin = ScriptedOrigin.answering { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            return answer(request, body, connection)
        }
        folder = try TestFolder()
    }

    deinit {
        for proxy in proxies { proxy.stop() }
        origin.stop()
    }

    static let answersPath: Answer = { request, _, connection in
        connection.respond(fields: "ETag: \"e\"\r\nContent-Type: text/plain\r\n", body: "\(request.method) \(request.target)")
    }

    /// Records the requests of the closure and finishes the recording.
    /// - Returns: the summary of the recording.
    @discardableResult
    func record(
        _ yaml: String = "tunnel: {ports: any}", terms: (inout RecordingFile.Terms) -> Void = { _ in },
        change: (inout ServerSettings) -> Void = { _ in }, _ ask: (TestProxy) throws -> Void
    ) throws -> RecordingSummary {
        let file = try Recorder.file(path, change: terms)
        let proxy = try TestProxy(
            "mode: record\nrecord: {file: x}\n\(yaml)",
            change: {
                $0.recording = file
                change(&$0)
            })
        try ask(proxy)
        proxy.stop()
        try Recorder.finish(file)
        return file.summary
    }

    /// A proxy that replays the recording.
    func replaying(
        _ yaml: String = "", loops: Int = 1, terms: (inout ReplaySources.Terms) -> Void = { _ in },
        change: (inout ServerSettings) -> Void = { _ in }
    ) throws -> TestProxy {
        let layers = try Recorder.layers([path], change: terms)
        let proxy = try TestProxy(
            "mode: replay\nreplay: {layers: [x]}\ntunnel: {ports: any}\n\(yaml)", loops: loops,
            change: {
                $0.layers = layers
                change(&$0)
            })
        proxies.append(proxy)
        return proxy
    }

    func head(_ method: String = "GET", _ path: String, fields: String = "") -> String {
        "\(method) http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\(fields)\r\n"
    }

    /// Sends one request on a connection of its own and returns the response.
    func ask(
        _ proxy: TestProxy, _ path: String, method: String = "GET", fields: String = "", body: String = ""
    ) throws -> ReceivedResponse {
        let client = try RawClient(port: proxy.port)
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        client.send(head(method, path, fields: fields + length) + body)
        return try client.readResponse(to: method)
    }
}

extension OriginConnection {
    func respond(fields: String = "", octets: [UInt8]) -> Bool {
        send("HTTP/1.1 200 OK\r\nContent-Length: \(octets.count)\r\n\(fields)\r\n") && send(bytes: octets)
    }
}
