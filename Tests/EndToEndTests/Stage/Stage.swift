import Foundation
import ProxyServer
import ResponseStore
import TestSupport
import UpstreamTransport

/// A proxy, a scripted origin, and clients of the proxy.
final class Stage {
    let proxy: TestProxy
    let origin: ScriptedOrigin

    init(
        _ yaml: String = "", loops: Int = 1, storePath: String? = ":memory:", queueLength: Int = UpstreamBudgets.usualQueueLength,
        store adjust: (inout StoreConfiguration) -> Void = { _ in }, change: (inout ServerSettings) -> Void = { _ in },
        answer: @escaping @Sendable (OriginRequest, borrowing OriginConnection) -> Bool
    ) throws {
        origin = ScriptedOrigin.answering(answer)
        proxy = try TestProxy(yaml, loops: loops, storePath: storePath, queueLength: queueLength, store: adjust, change: change)
    }

    /// An origin that runs the script on each connection from its first byte.
    init(
        _ yaml: String = "", loops: Int = 1, change: (inout ServerSettings) -> Void = { _ in },
        script: @escaping ScriptedOrigin.Script
    ) throws {
        origin = ScriptedOrigin(script: script)
        proxy = try TestProxy(yaml, loops: loops, change: change)
    }

    deinit {
        proxy.stop()
        origin.stop()
    }

    func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(origin.port)\(path)" }

    func client(receiveBuffer: Int32? = nil, seconds: Int = Deadline.seconds) throws -> RawClient {
        try RawClient(port: proxy.port, owner: self, receiveBuffer: receiveBuffer, seconds: seconds)
    }

    /// The head of a request as clients send it to a proxy. `fields` are lines with their CRLF.
    func head(_ method: String = "GET", _ path: String, host: String = "127.0.0.1", fields: String = "") -> String {
        "\(method) \(url(path, host: host)) HTTP/1.1\r\nHost: \(host):\(origin.port)\r\n\(fields)\r\n"
    }

    /// Sends one request on a connection of its own and returns the response.
    func fetch(
        _ path: String, method: String = "GET", host: String = "127.0.0.1", fields: String = "", body: String = ""
    ) throws -> ReceivedResponse {
        let client = try client()
        let length = body.isEmpty ? "" : "Content-Length: \(body.utf8.count)\r\n"
        client.send(head(method, path, host: host, fields: fields + length) + body)
        return try client.readResponse(to: method)
    }

    /// How many requests the origin received, in total or for one path.
    func requestCount(_ path: String? = nil) -> Int {
        guard let path else { return origin.requestHeads.count }
        return origin.requestHeads.count { OriginRequest(head: $0).target == path }
    }
}

extension ReceivedResponse {
    var json: [String: Any] {
        get throws { try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] ?? [:] }
    }

    /// The `code` of an error response that the proxy generated.
    var code: String? { (try? json)?["code"] as? String }  // not JSON: no code
    var detail: String? { (try? json)?["detail"] as? String }  // not JSON: no detail
    var cacheStatus: String { self["Cache-Status"] ?? "" }
}

/// Runs the closure on `count` threads at once and waits for all of them.
func concurrently<Result: Sendable>(_ count: Int, _ work: @escaping @Sendable (Int) throws -> Result) throws -> [Result] {
    let results = Results<Result>(count)
    let threads = (0..<count).map { index in
        let thread = Thread { results.set(index, Swift.Result { try work(index) }) }
        thread.stackSize = 512 * 1024
        return thread
    }
    for thread in threads { thread.start() }
    return try results.wait().map { try $0.get() }
}

private final class Results<Value: Sendable>: Sendable {
    private let condition = NSCondition()
    // Guarded by `condition`.
    nonisolated(unsafe) private var values: [Result<Value, any Error>?]

    init(_ count: Int) { values = Array(repeating: nil, count: count) }

    func set(_ index: Int, _ value: Result<Value, any Error>) {
        condition.withLock {
            values[index] = value
            condition.signal()
        }
    }

    func wait() -> [Result<Value, any Error>] {
        condition.withLock {
            while values.contains(where: { $0 == nil }) { condition.wait() }
            return values.compactMap { $0 }
        }
    }
}
