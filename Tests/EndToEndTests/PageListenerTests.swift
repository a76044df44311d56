import EventLoop
import Foundation
import HTTPMessage
import ProxyServer
import TestSupport
import Testing

@testable import LarderCLI
@testable import LarderSettings
@testable import ProxyAdmin

@Suite("The page's listener of a running server")
struct PageListenerTests {
    private struct Unusable: Error {}

    /// A server in this process, without an admin socket.
    final class Running {
        let server: RunningServer
        private let plan: ServingPlan

        init() throws {
            let sources = SettingsSources(
                assignments: [
                    "listen=['127.0.0.1:0']", "store.path=':memory:'", "admin.socket=off", "log.access.format=off", "loops=1",
                    "log.level=error", "egress.addresses.private=allow",
                ], environment: [:], trustFiles: TrustFiles())
            guard case .settings(let settings) = sources.load().outcome else {
                throw Unusable()
            }
            let loaded = LoadedSettings(settings: settings, file: nil, sources: sources)
            plan = try ServingPlan(loaded)
            server = try RunningServer(plan, loaded)
        }

        deinit { server.close() }

        func link() throws -> URL {
            let outcome = Guarded<PageRoute.Outcome?>(nil)
            let ended = DispatchSemaphore(value: 0)
            server.openPage(plan) { result in
                outcome.withLock { $0 = result }
                ended.signal()
            }
            #expect(ended.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success)
            guard case .link(let text, _)? = outcome.withLock({ $0 }) else {
                throw Unusable()
            }
            return try #require(URL(string: text))
        }

        func use(_ link: URL) throws -> Int {
            let port = UInt16(try #require(link.port))
            let client = try RawClient(port: port)
            client.send("GET /open?\(link.query ?? "") HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            return try client.readResponse().status
        }

        /// The status of a request through the proxy to a port of this machine.
        func status(ofPort port: Int) throws -> Int {
            let client = try RawClient(port: server.addresses[0].port)
            client.send("GET http://127.0.0.1:\(port)/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            return try client.readResponse().status
        }
    }

    @Test("The port closes after a time without a client, and the next link opens a port again")
    func closes() throws {
        let running = try Running()
        running.server.page.limits.withLock { $0.unused = 1 }
        let first = try running.link()
        let port = try #require(first.port)
        #expect(try running.use(first) == 303)
        try eventually { running.server.page.open == nil }
        try eventually { (try? RawClient(port: UInt16(port))) == nil }
        // The port is no listener of Larder now: nothing answers there.
        try eventually { try running.status(ofPort: port) == 502 }
        running.server.page.limits.withLock { $0.unused = 900_000 }
        let second = try running.link()
        #expect(try running.use(second) == 303)
        #expect(try running.status(ofPort: #require(second.port)) == 508)
    }

    @Test("The port stays open while a link can still be used")
    func staysOpenForLinks() throws {
        let running = try Running()
        let link = try running.link()
        let open = try #require(running.server.page.open)
        running.server.closePage(ifUnused: open.address)
        // Changes take their turn, so this link is made after the decision above.
        let second = try running.link()
        #expect(second.port == link.port)
        #expect(try running.use(link) == 303)
        #expect(try running.use(second) == 303)
        running.server.closePage(ifUnused: open.address)
        _ = try running.link()
        #expect(running.server.page.open?.server !== open.server)
    }

    @Test("A reader that is behind gets the newest requests, and the number of the others; then only new ones")
    func countsSkipped() throws {
        let running = try Running()
        let link = try running.link()
        let port = try #require(link.port)
        let thread = try LoopThread(name: "news")
        defer {
            thread.handle.stop()
            thread.join()
        }
        func news(since seen: [Int]?, limit: Int) throws -> TraceNews {
            let answer = Guarded<TraceNews?>(nil)
            let server = running.server.server
            thread.handle.post { loop in
                server.news(TraceQuery(), since: seen, limit: limit, loop.reply { news in answer.withLock { $0 = news } })
            }
            try eventually { answer.withLock { $0 != nil } }
            return try #require(answer.withLock { $0 })
        }
        let start = try news(since: nil, limit: 2)
        #expect(start.requests.isEmpty && start.skippedCount == 0)
        for _ in 0..<5 { #expect(try running.status(ofPort: port) == 508) }
        try eventually { try news(since: nil, limit: 2).seen == [5] }
        let behind = try news(since: start.seen, limit: 2)
        #expect(behind.requests.count == 2 && behind.skippedCount == 3)
        #expect(behind.requests[0].place < behind.requests[1].place)
        let after = try news(since: behind.seen, limit: 2)
        #expect(after.requests.isEmpty && after.skippedCount == 0)
    }

    @Test("A sample is added to the history in each period")
    func samples() throws {
        let running = try Running()
        let history = CounterHistory()
        let server = running.server.server
        let thread = try LoopThread(name: "samples") { HistorySampler.start(history, server, on: $0, period: 1) }
        defer {
            thread.handle.stop()
            thread.join()
        }
        try eventually {
            history.samples(with: CounterHistory.Totals(), at: Timestamp(milliseconds: 0)).count > 3
        }
    }
}
