import Dispatch
import Foundation
import TestSupport
import Testing

@Suite("Stale responses during a background validation, through the proxy (RFC 5861 §3)")
struct StaleWhileRevalidateServingTests {
    private static let window = "Cache-Control: max-age=60, stale-while-revalidate=600\r\n"
    /// A request with this directive accepts no stale response, so it joins the validation in flight.
    private static let demand = "Cache-Control: max-age=1000\r\n"

    /// An origin whose responses after the first wait for the gate.
    private func stage(
        loops: Int = 1, length: Int = 10, release: Gate, asked: Gate, status: String = "200 OK"
    ) throws -> Stage {
        let count = Counter()
        return try Stage(loops: loops, storePath: nil) { _, connection in
            if count.next() == 1 {
                return connection.respond(fields: Self.window + "ETag: \"1\"\r\n", body: "old")
            }
            asked.open()
            release.wait()
            return connection.respond(status, fields: Self.window, body: String(repeating: "n", count: length))
        }
    }

    @Test(
        "All clients get the stale response at once, the origin gets one request, and then all clients get the new response",
        arguments: [1, 4], [10, 100_000])
    func asksOnce(loops: Int, length: Int) throws {
        let asked = Gate()
        let release = Gate()
        let stage = try stage(loops: loops, length: length, release: release, asked: asked)
        #expect(try stage.fetch("/x").status == 200)
        stage.proxy.pass(seconds: 100)
        let port = stage.proxy.port
        let head = stage.head("GET", "/x")
        let stale = try concurrently(20) { _ in
            let client = try RawClient(port: port)
            client.send(head)
            return try client.readResponse()
        }
        for response in stale {
            #expect(response.text.first == "o" && Int(response["Age"] ?? "") ?? 0 >= 100)
            #expect(response.cacheStatus.hasPrefix("Larder; hit; ttl=-4"))
            #expect(response.cacheStatus.hasSuffix("; detail=stale_while_revalidate"))
        }
        #expect(asked.wait())
        let joined = try stage.client()
        joined.send(stage.head("GET", "/x", fields: Self.demand))
        for _ in 0..<2 * loops { _ = try stage.fetch("/x", method: "OPTIONS", fields: "Max-Forwards: 0\r\n") }
        release.open()
        #expect(try joined.readResponse().text == String(repeating: "n", count: length))
        let new = try stage.fetch("/x", fields: Self.demand)
        #expect(new.text.first == "n")
        #expect(stage.requestCount("/x") == 2)
    }

    @Test("A 304 makes the response fresh again", arguments: [1, 4])
    func freshens(loops: Int) throws {
        let stage = try Stage(loops: loops) { request, connection in
            let status = request["If-None-Match"] == "\"1\"" ? "304 Not Modified" : "200 OK"
            return connection.respond(status, fields: Self.window + "ETag: \"1\"\r\n", body: status == "200 OK" ? "body" : "")
        }
        _ = try stage.fetch("/x")
        stage.proxy.pass(seconds: 100)
        #expect(try stage.fetch("/x").cacheStatus.contains("stale_while_revalidate"))
        let fresh = try stage.fetch("/x", fields: Self.demand)
        #expect(fresh.text == "body")
        // Without the validation it would be 100 s or more.
        #expect((0..<60).contains(fresh["Age"].flatMap { Int($0) } ?? -1))
        #expect(stage.requestCount() == 2)
    }

    @Test("After the window the client waits for the validation")
    func waitsBehindWindow() throws {
        let release = Gate()
        release.open()
        let stage = try stage(release: release, asked: Gate())
        _ = try stage.fetch("/x")
        stage.proxy.pass(seconds: 661)
        #expect(try stage.fetch("/x").text.first == "n")
    }

    @Test("A failed validation is logged, and not retried at once")
    func tellsFailure() throws {
        let count = Counter()
        let stage = try Stage(change: { $0.proxyLimits.backgroundRetryDelay = 100_000 }) { _, connection in
            count.next() == 1 ? connection.respond(fields: Self.window, body: "old") : connection.respond("503 Busy")
        }
        _ = try stage.fetch("/x")
        stage.proxy.pass(seconds: 100)
        for _ in 0..<3 {
            #expect(try stage.fetch("/x").text == "old")
            // Joins the validation in flight, and then sends a request of its own.
            #expect(try stage.fetch("/x", fields: Self.demand).status == 503)
        }
        stage.proxy.pass(seconds: 200)
        #expect(try stage.fetch("/x").text == "old")
        #expect(try stage.fetch("/x", fields: Self.demand).status == 503)
        #expect(stage.requestCount() == 1 + 4 + 2)
        let lines = try stage.proxy.logLines().filter { $0.contains("\"status\":0") }
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains("\"cache\":\"failed\"") && $0.contains("\"upstream_status\":503") })
    }

    @Test("The Retry-After of an error delays the background validations of its URL", arguments: [429, 503])
    func obeysRetryAfter(status: Int) throws {
        let count = Counter()
        let stage = try Stage { _, connection in
            count.next() == 1
                ? connection.respond(fields: Self.window, body: "old")
                : connection.respond("\(status) Busy", fields: "Retry-After: 120\r\n")
        }
        _ = try stage.fetch("/x")
        stage.proxy.pass(seconds: 100)
        // The pause, and the number of requests at the origin after it. The second request joins the validation, then sends its own.
        for (seconds, requests) in [(0, 3), (60, 4), (70, 6)] as [(Int64, Int)] {
            stage.proxy.pass(seconds: seconds)
            #expect(try stage.fetch("/x").text == "old")
            #expect(try stage.fetch("/x", fields: Self.demand).status == status)
            #expect(stage.requestCount() == requests, "\(seconds)")
        }
    }

    @Test("The number of concurrent background validations is limited")
    func keepsToLimit() throws {
        let asked = Gate()
        let release = Gate()
        let count = Counter()
        let stage = try Stage(change: { $0.proxyLimits.backgroundValidations = 1 }) { request, connection in
            if count.next() == 3 {
                asked.open()
                release.wait()
            }
            return connection.respond(fields: Self.window, body: "x")
        }
        for path in ["/a", "/b"] { _ = try stage.fetch(path) }
        stage.proxy.pass(seconds: 100)
        for path in ["/a", "/b"] { #expect(try stage.fetch(path).cacheStatus.contains("stale_while_revalidate")) }
        #expect(asked.wait())
        #expect(try stage.fetch("/b").cacheStatus.contains("stale_while_revalidate"))
        release.open()
        _ = try stage.fetch("/a", fields: Self.demand)
        #expect(stage.requestCount("/b") == 1)
        #expect(try stage.fetch("/b").cacheStatus.contains("stale_while_revalidate"))
        _ = try stage.fetch("/b", fields: Self.demand)
        #expect(stage.requestCount("/b") == 2)
    }

    @Test("A response that a background validation brings after an invalidation is not stored", arguments: [10, 100_000])
    func isInvalidated(length: Int) throws {
        let count = Counter()
        let asked = Gate()
        let release = Gate()
        let stage = try Stage(storePath: nil) { request, connection in
            if request.method == "POST" { return connection.respond("204 No Content") }
            let number = count.next()
            if number == 2 {
                asked.open()
                release.wait()
            }
            return connection.respond(
                fields: Self.window, body: "\(number)" + String(repeating: "x", count: number == 1 ? 0 : length))
        }
        _ = try stage.fetch("/x")
        stage.proxy.pass(seconds: 100)
        #expect(try stage.fetch("/x").text.first == "1")
        #expect(asked.wait())
        #expect(try stage.fetch("/x", method: "POST", body: "x").status == 204)
        release.open()
        #expect(try stage.fetch("/x").text.first == "3")
        #expect(try stage.fetch("/x").text.first == "3")
    }

    @Test("A stopping server does not wait for a background validation; a reload does not end it", arguments: [true, false])
    func drains(stops: Bool) throws {
        let asked = Gate()
        let release = Gate()
        let stage = try stage(release: release, asked: asked)
        _ = try stage.fetch("/x")
        stage.proxy.pass(seconds: 100)
        #expect(try stage.fetch("/x").text.first == "o")
        #expect(asked.wait())
        if stops {
            let drained = DispatchSemaphore(value: 0)
            stage.proxy.server.drain { drained.signal() }
            #expect(drained.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success)
            release.open()
        } else {
            try stage.proxy.reload("")
            release.open()
            #expect(try stage.fetch("/x", fields: Self.demand).text.first == "n")
            #expect(stage.requestCount() == 2)
        }
    }
}
