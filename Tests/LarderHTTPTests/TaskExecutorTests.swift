import Foundation
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: tasks on the session's threads")
struct TaskExecutorTests {
    private static func answering() -> ScriptedOrigin {
        ScriptedOrigin.answering { _, connection in connection.respond(body: "hello") }
    }

    @Test("A task that prefers the session's thread runs there before and after each await, and so do its children")
    func runsOnTheThread() async throws {
        let origin = Self.answering()
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let uri = origin.uri()
        let names = try await withTaskExecutorPreference(session.taskExecutor) {
            var names = [threadName()]
            for _ in 0..<3 {
                let response = try await session.send(SessionRequest(.get, uri))
                #expect(response.text == "hello")
                names.append(threadName())
            }
            async let child = childName(session, uri)
            names.append(try await child)
            return names
        }
        #expect(names == Array(repeating: "session-0", count: 5))
        #expect(threadName() != "session-0")
        await session.shutdown(.cancel)
    }

    private func childName(_ session: HTTPSession, _ uri: String) async throws -> String {
        _ = try await session.send(SessionRequest(.get, uri))
        return threadName()
    }

    @Test("With several threads, each target's origin has its own executor")
    func isThatOfTheOrigin() async throws {
        let session = try HTTPSession.plain { $0.threads = 4 }
        var names: Set<String> = []
        for number in 0..<64 {
            let target = try TargetURI("http://host-\(number).example/")
            let name = await withTaskExecutorPreference(session.taskExecutor(for: target)) { threadName() }
            #expect(name == "session-\(session.loops.place(of: target.origin))")
            names.insert(name)
        }
        #expect(names.count == 4)
        await session.shutdown(.cancel)
    }

    @Test("Everything works on the session's thread: streaming in both directions, retry waits, cancellation, waiting for a turn")
    func doesEverything() async throws {
        let origin = ScriptedOrigin { connection in
            var count = 0
            while let head = connection.readHead() {
                let request = OriginRequest(head: head)
                guard let body = connection.readBody(of: request) else { return }
                if request.target == "/again" { count += 1 }
                if request.target == "/never" {
                    connection.pause(milliseconds: 60_000)
                } else if request.target == "/again", count == 1 {
                    connection.send("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n")
                } else {
                    connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(1_000_000 + body.count)\r\n\r\n")
                    connection.send(bytes: [UInt8](repeating: 1, count: 1_000_000 + body.count))
                }
            }
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain {
            $0.limits.activeExchanges = 1
            $0.limits.unreadBodyLength = 64 * 1024
            $0.retries = .standard
            // The requests take turns on the one connection in any order.
            $0.retries.limit = 9
            $0.retries.delay = .milliseconds(1)
        }
        let uri = origin.uri()
        try await withTaskExecutorPreference(session.taskExecutor) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        let response = try await session.open(SessionRequest(.get, uri))
                        let octets = try await response.body.collect(atMost: 2_000_000)
                        #expect(octets.count == 1_000_000)
                    }
                    group.addTask {
                        let content = RequestBody.octets([UInt8](repeating: 2, count: 500_000))
                        let response = try await session.send(SessionRequest(.put, uri, body: content))
                        #expect(response.body.count == 1_500_000)
                    }
                    group.addTask {
                        let response = try await session.send(SessionRequest(.get, uri + "again"))
                        #expect(response.status == 200)
                    }
                }
                try await group.waitForAll()
            }
            let transfer = Transfer()
            async let failure = HTTPSession.failure { try await session.send(SessionRequest(.get, uri + "never"), as: transfer) }
            while transfer.snapshot.phase != .sending { await Task.yield() }
            transfer.cancel()
            let error = try await failure
            #expect(error.code == .cancelled)
            await session.shutdown(.cancel)
        }
    }

    @Test("A task that never waits does not block the session's other work")
    func leavesTimeToOthers() async throws {
        let origin = Self.answering()
        defer { origin.stop() }
        let session = try HTTPSession.plain()
        let busy = Task(executorPreference: session.taskExecutor) { while !Task.isCancelled { await Task.yield() } }
        for _ in 0..<20 {
            let response = try await session.send(SessionRequest(.get, origin.uri()))
            #expect(response.text == "hello")
        }
        busy.cancel()
        await busy.value
        await session.shutdown(.cancel)
    }

    @Test("A task continues on another thread after the session has ended, even if the task itself ended it")
    func outlivesTheSession() async throws {
        let session = try HTTPSession.plain()
        let executor = session.taskExecutor
        await withTaskExecutorPreference(executor) {
            #expect(threadName() == "session-0")
            await session.shutdown(.cancel)
            await Task.yield()
        }
        let name = await Task(executorPreference: executor) {
            await Task.yield()
            return threadName()
        }.value
        #expect(name != "session-0")
    }

    @Test("No running task is lost when the session is released", arguments: 0..<20)
    func losesNothing(round: Int) async throws {
        var session: HTTPSession? = try HTTPSession.plain()
        let executor = try #require(session).taskExecutor
        let tasks = (0..<50).map { _ in Task(executorPreference: executor) { for _ in 0..<20 { await Task.yield() } } }
        session = nil
        for task in tasks { await task.value }
    }
}

private func threadName() -> String {
    let name = try? String(contentsOfFile: "/proc/thread-self/comm", encoding: .utf8)
    return name?.trimmingCharacters(in: .newlines) ?? ""
}
