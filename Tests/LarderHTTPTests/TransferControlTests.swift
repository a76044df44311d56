import CLarderLinux
import Glibc
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: transfers in flight")
struct TransferControlTests {
    @Test("Transfers can be cancelled by method and path, or all at once; the others continue")
    func cancelsWhatIsMeant() async throws {
        let origin = EndlessOrigin()
        defer { origin.stop() }
        let session = try HTTPSession.plain { $0.timeouts.firstByte = .seconds(600) }
        let tasks = ["/silent?a", "/silent?b", "/silent/other"].map { path in
            Task { try await session.send(SessionRequest(.get, origin.uri(path))) }
        }
        try await until { origin.requestCount >= 3 }
        #expect(session.transfers().count == 3)
        #expect(session.cancel(.post, path: "/silent") == 0)
        #expect(session.cancel(.get, path: "/silent") == 2)
        for task in tasks[..<2] { #expect(try await HTTPSession.failure { try await task.value }.code == .cancelled) }
        #expect(session.transfers().map { $0.uri?.path } == ["/silent/other"])
        #expect(session.cancelAll() == 1)
        _ = await tasks[2].result
        try await origin.letGo()
    }

    @Test("A suspended transfer does not begin, or receives no more bytes; after `resume` it completes")
    func suspends() async throws {
        let body = PatternedBody(length: 24 << 20)
        let origin = ScriptedOrigin { connection in
            while connection.readHead() != nil {
                connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.length)\r\n\r\n")
                connection.send(body)
            }
        }
        defer { origin.stop() }
        let other = ScriptedOrigin.answering { _, connection in connection.respond() }
        defer { other.stop() }
        let session = try HTTPSession.plain()
        /// Returns when the session's loop has handled all earlier messages.
        func settle() async throws { for _ in 0..<2 { _ = try await session.send(SessionRequest(.get, other.uri())) } }
        let transfer = Transfer()
        transfer.suspend()
        let uri = origin.uri()
        let task = Task { try await session.send(SessionRequest(.get, uri), as: transfer) }
        try await until { session.transfers().map(\.isSuspended) == [true] }
        try await settle()
        #expect(origin.connectionCount == 0)
        transfer.resume()
        try await until { transfer.snapshot.progress.received > 0 }
        transfer.suspend()
        try await settle()
        let before = transfer.snapshot.progress.received
        try await settle()
        #expect(transfer.snapshot.progress.received == before)
        transfer.resume()
        let response = try await task.value
        #expect(response.body.withUnsafeBytes { $0.count == body.length && body.matches($0, at: 0) })
    }

    @Test("Suspending a transfer also stops an upload")
    func suspendsUploads() async throws {
        let content = PatternBytes.make(24 << 20, seed: 3)
        let origin = ScriptedOrigin.answering { request, connection in
            guard let body = connection.readBody(of: request) else { return false }
            return connection.respond(body: "\(body.count)")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        /// As above, with an exchange with the same origin on another connection.
        func settle() async throws { for _ in 0..<2 { _ = try await session.send(SessionRequest(.get, origin.uri())) } }
        let transfer = Transfer()
        let uri = origin.uri()
        let task = Task { try await session.send(SessionRequest(.put, uri, body: .octets(content)), as: transfer) }
        try await until { transfer.snapshot.progress.sent > 0 }
        transfer.suspend()
        try await settle()
        let before = transfer.snapshot.progress.sent
        try await settle()
        #expect(transfer.snapshot.progress.sent == before)
        transfer.resume()
        #expect(try await task.value.text == "\(content.count)")
        #expect(transfer.snapshot.progress.fractionSent == 1)
    }

    @Test("Progress never decreases, knows the total if the origin announces it, and ends at 1", arguments: [true, false])
    func progresses(isLengthKnown: Bool) async throws {
        let isSeen = Gate()
        let origin = ScriptedOrigin { connection in
            _ = connection.readHead()
            connection.send("HTTP/1.1 200 OK\r\n" + (isLengthKnown ? "Content-Length: 500000\r\n\r\n" : "\r\n"))
            for piece in 0..<50 {
                connection.send(bytes: [UInt8](repeating: 7, count: 10_000))
                if piece == 20 { isSeen.wait() }
            }
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let transfer = Transfer()
        var steps = transfer.progress.makeAsyncIterator()
        // The stream holds one step only: the first one is read before a second one can replace it.
        let first = await steps.next()
        var seen = [try #require(first)]
        let uri = origin.uri()
        async let response = session.send(SessionRequest(.get, uri), as: transfer)
        while let step = await steps.next() {
            seen.append(step)
            if step.received > 0 { isSeen.open() }
        }
        #expect(try await response.body.count == 500_000)
        #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.received <= $1.received })
        #expect(seen.first?.fractionReceived == nil)
        #expect(seen.dropLast().contains { $0.received > 0 && ($0.fractionReceived != nil) == isLengthKnown })
        #expect(seen.last?.fractionReceived == 1)
        #expect(seen.last?.received == 500_000)
    }

    @Test("With one exchange at a time, waiting transfers run by priority, then by arrival")
    func ordersByPriority() async throws {
        let gate = Gate()
        let origin = ScriptedOrigin.answering { request, connection in
            if request.target == "/first" { gate.wait() }
            return connection.respond()
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain { $0.limits.activeExchanges = 1 }
        let uri = origin.uri("")
        var tasks: [Task<SessionResponse, any Error>] = []
        func begin(_ path: String, _ priority: SessionRequest.Priority) async throws {
            var request = SessionRequest(.get, uri + path)
            request.priority = priority
            tasks.append(Task { [request] in try await session.send(request) })
            try await until { session.transfers().count >= tasks.count }
            try await until { session.turns.counts.active + session.turns.counts.waiting == tasks.count }
        }
        try await begin("/first", .low)
        for (path, priority) in [("/low", .low), ("/a", .normal), ("/high", .high), ("/b", .normal)]
            as [(String, SessionRequest.Priority)]
        {
            try await begin(path, priority)
        }
        gate.open()
        for task in tasks { _ = try await task.value }
        #expect(origin.requestHeads.map { OriginRequest(head: $0).target } == ["/first", "/high", "/a", "/b", "/low"])
    }

    @Test("Waiting transfers are limited in number and time; a cancelled one gives up its place")
    func boundsWaiting() async throws {
        let origin = EndlessOrigin()
        defer { origin.stop() }
        let session = try HTTPSession.plain {
            $0.limits.activeExchangesPerOrigin = 1
            $0.limits.waitingTransfers = 1
        }
        let first = Task { try await session.send(SessionRequest(.get, origin.uri("/silent"))) }
        try await until { origin.requestCount >= 1 }
        let second = Task { try await session.send(SessionRequest(.get, origin.uri("/silent"))) }
        try await until { session.turns.counts.waiting >= 1 }
        let third = try await HTTPSession.failure { try await session.send(SessionRequest(.get, origin.uri("/silent"))) }
        #expect(third.code == .queueFull)
        second.cancel()
        #expect(try await HTTPSession.failure { try await second.value }.code == .cancelled)
        var request = SessionRequest(.get, origin.uri("/silent"))
        request.timeouts = SessionTimeouts()
        request.timeouts?.queue = .milliseconds(50)
        let fourth = try await HTTPSession.failure { [request] in try await session.send(request) }
        #expect(fourth.code == .timeout)
        #expect(fourth.phase == .queue)
        first.cancel()
        _ = await first.result
        #expect(session.turns.counts == (0, 0))
    }

    @Test("Using a transfer for a second call is an error for every kind of call, and sends nothing")
    func isUsedOnce() async throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "a") }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let transfer = Transfer()
        let request = SessionRequest(.get, origin.uri("/a"))
        #expect(try await session.send(request, as: transfer).text == "a")
        let folder = try TemporaryFolder()
        let path = folder.path("file")
        let failures = [
            try await HTTPSession.failure { try await session.send(request, as: transfer) },
            try await HTTPSession.failure { try await session.open(request, as: transfer) },
            try await HTTPSession.failure { try await session.download(request, to: .file(path), as: transfer) },
        ]
        for failure in failures {
            #expect(failure.code == .transferUsed)
            #expect(failure.request == "GET \(origin.uri("/a"))")
        }
        #expect(origin.requestHeads.count == 1)
        #expect(folder.names.isEmpty)
        #expect(session.transfers().isEmpty)
        #expect(transfer.snapshot.number == 1)
        await session.shutdown(.cancel)
    }

    @Test("Shutting down with `drain` lets transfers in flight end in time, and no new one begins")
    func drains() async throws {
        let gate = Gate()
        let origin = ScriptedOrigin.answering { _, connection in
            gate.wait()
            return connection.respond(body: "done")
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let uri = origin.uri()
        let task = Task { try await session.send(SessionRequest(.get, uri)) }
        try await until { !origin.requestHeads.isEmpty }
        let shutdown = Task { await session.shutdown(.drain(deadline: .seconds(Deadline.seconds))) }
        while true {
            let late = try await HTTPSession.failure { try await session.send(SessionRequest(.get, "http://127.0.0.1:9/")) }
            if late.code == .sessionClosed { break }
        }
        gate.open()
        #expect(try await task.value.text == "done")
        await shutdown.value
    }

    @Test("After shutdown, transfers that do not end in time are cancelled", arguments: [true, false])
    func cancelsAtShutdown(drains: Bool) async throws {
        let origin = EndlessOrigin()
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let task = Task { try await session.send(SessionRequest(.get, origin.uri("/silent"))) }
        try await until { origin.requestCount >= 1 }
        await session.shutdown(drains ? .drain(deadline: .milliseconds(50)) : .cancel)
        #expect(try await HTTPSession.failure { try await task.value }.code == .cancelled)
        try await origin.letGo()
    }
}
