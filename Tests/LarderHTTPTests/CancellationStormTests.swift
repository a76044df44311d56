import EventLoop
import Foundation
import TestSupport
import Testing

@testable import LarderHTTP

@Suite("HTTPSession: cancellation at random times")
struct CancellationStormTests {
    /// `LARDER_SESSION_CANCELLATIONS` sets another number (make test-long: 10,000).
    static let count = ProcessInfo.processInfo.environment["LARDER_SESSION_CANCELLATIONS"].flatMap(Int.init) ?? 500

    @Test(
        "Cancellations leave no descriptor, exchange, turn, transfer or thread behind, and the session keeps working",
        arguments: [(11 as UInt64, false), (12, true)])
    func leavesNothing(seed: UInt64, onItsThread: Bool) async {
        // In a separate process, so that each remaining descriptor and thread belongs to the session.
        await #expect(processExitsWith: .success) { [seed, onItsThread] in
            // An uncaught error would end the process with a signal, and hide which error it was.
            do { try await Self.run(seed: seed, onItsThread) } catch { Issue.record(error) }
        }
    }

    private static func run(seed: UInt64, _ onItsThread: Bool) async throws {
        // The first round opens the descriptors that the process keeps.
        _ = try await storm(50, seed: 1, onItsThread, isCounted: false)
        try await until { sessionThreadCount == 0 }
        let descriptors = descriptorCount
        let transfers = try await storm(count, seed: seed, onItsThread, isCounted: true)
        try await until { descriptorCount <= descriptors && sessionThreadCount == 0 }
        try await until { transfers.liveCount == 0 }
        #expect(transfers.count >= count && transfers.liveCount == 0)
    }

    /// - Returns: all transfers of the storm.
    private static func storm(
        _ count: Int, seed: UInt64, _ onItsThread: Bool, isCounted: Bool
    ) async throws -> WeakTransfers {
        let transfers = WeakTransfers()
        let origin = ScriptedOrigin { connection in
            var dice = SeededGenerator(seed: UInt64(connection.number))
            while let head = connection.readHead() {
                let request = OriginRequest(head: head)
                if connection.readBody(of: request) == nil { return }
                if dice.chance(30) { connection.pause(milliseconds: Int32(dice.below(20))) }
                let length = dice.below(300_000)
                guard connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n") else { return }
                guard connection.send(bytes: [UInt8](repeating: 1, count: length)) else { return }
            }
        }
        defer { origin.stop() }
        let session = try HTTPSession.plain {
            $0.limits.activeExchanges = 16
            $0.retries = .standard
            $0.retries.delay = .milliseconds(5)
        }
        let uri = origin.uri()
        _ = try await session.send(SessionRequest(.get, uri))
        let before = Self.descriptorCount - 2 * (await session.statistics()).idleConnections
        var dice = SeededGenerator(seed: seed)
        var left = count
        while left > 0 {
            let batch = min(left, 50)
            left -= batch
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<batch {
                    let (kind, wait) = (dice.below(4), dice.below(15_000))
                    group.addTask { await disturb(session, uri, kind: kind, microseconds: wait, onItsThread, transfers) }
                }
            }
        }
        #expect(try await session.send(SessionRequest(.get, uri)).status == 200)
        try await untilQuiet(session)
        #expect(session.turns.counts == (0, 0))
        #expect(session.transfers().isEmpty)
        let statistics = await session.statistics()
        #expect(statistics.exchanges == 0 && statistics.sleepers == 0)
        #expect(statistics.connections == statistics.idleConnections)
        // Idle connections may stay, fewer of them as the origin closes some; all other descriptors are closed, on both sides
        // of this process.
        if isCounted { try await until { await descriptorCount == before + 2 * session.statistics().idleConnections } }
        await session.shutdown(.cancel)
        return transfers
    }

    private static func disturb(
        _ session: HTTPSession, _ uri: String, kind: Int, microseconds: Int, _ onItsThread: Bool, _ transfers: WeakTransfers
    ) async {
        let transfer = Transfer()
        transfers.note(transfer)
        let task = Task(executorPreference: onItsThread ? session.taskExecutor : nil) {
            switch kind {
            case 0: _ = try await session.send(SessionRequest(.get, uri), as: transfer)
            case 1:
                _ = try await session.send(
                    SessionRequest(.put, uri, body: .octets([UInt8](repeating: 2, count: 200_000))), as: transfer)
            case 2: for try await _ in try await session.open(SessionRequest(.get, uri), as: transfer).body {}
            default: _ = try await session.open(SessionRequest(.get, uri), as: transfer)
            }
        }
        // An early end of the wait is a cancellation like another.
        try? await Task.sleep(for: .microseconds(microseconds))
        switch microseconds % 3 {
        case 0: task.cancel()
        case 1: transfer.cancel()
        default:
            transfer.suspend()
            transfer.resume()
            task.cancel()
        }
        _ = await task.result
    }

    private static func untilQuiet(_ session: HTTPSession) async throws {
        try await until {
            let statistics = await session.statistics()
            return statistics.exchanges == 0 && statistics.connections == statistics.idleConnections
        }
    }

    /// Counts threads by the names that sessions give them.
    private static var sessionThreadCount: Int {
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
        return threads.count { thread in
            // A thread that has ended meanwhile has no name.
            ((try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)) ?? "").hasPrefix("session-")
        }
    }

    /// Without timers: libdispatch opens one of each kind on first use, and keeps it.
    private static var descriptorCount: Int {
        let files = FileManager.default
        let descriptors = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return descriptors.count {
            (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) != "anon_inode:[timerfd]"
        }
    }
}

/// The transfers of the storm, referenced weakly.
private final class WeakTransfers: Sendable {
    private struct Held {
        weak var transfer: Transfer?
    }

    private let all = Guarded<[Held]>([])

    func note(_ transfer: Transfer) { all.withLock { $0.append(Held(transfer: transfer)) } }

    var count: Int { all.withLock { $0.count } }
    var liveCount: Int { all.withLock { $0.count { $0.transfer != nil } } }
}
