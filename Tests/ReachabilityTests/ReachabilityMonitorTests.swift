import CLinux
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Reachability

private let online = ReachabilityStatus.online(NetworkPath(interfaceName: "v0", kind: .wired))

/// A network whose link `v0` leads to another one.
private struct Field {
    let here: NetworkNamespace
    let there: NetworkNamespace

    init() async throws {
        here = try NetworkNamespace()
        there = try NetworkNamespace()
        try here.connect("v0", to: there, "v1")
        try there.ip("addr add 10.9.0.2/24 dev v1", "link set v1 up")
        // Without IPv6, if there is any: its addresses come up by themselves some time later.
        try here.inside { try? Data("1".utf8).write(to: URL(filePath: "/proc/sys/net/ipv6/conf/v0/disable_ipv6")) }
        try here.ip("link set lo up", "addr add 10.9.0.1/24 dev v0", "link set v0 up", "route add default via 10.9.0.2")
        // The link's two ends find each other some time after they are up.
        try await waitUntilOnline()
    }

    private func waitUntilOnline() async throws {
        let monitor = try monitor()
        defer { monitor.stop() }
        for await status in monitor.statuses() where status == online { break }
    }

    func monitor() throws -> ReachabilityMonitor { try here.inside { try ReachabilityMonitor() } }
}

// One at a time: a test counts the process's descriptors.
@Suite(
    "Reachability in a network of its own", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: NetworkNamespace.canBeMade, Comment(rawValue: NetworkNamespace.neededToMake ?? "")))
struct ReachabilityMonitorTests {
    @Test(
        "Link down, route gone, address gone, carrier gone, and back: each is told once, in order, the first status like a change"
    )
    func tellsInOrder() async throws {
        let field = try await Field()
        let monitor = try field.monitor()
        var statuses = monitor.statuses().makeAsyncIterator()
        #expect(await statuses.next() == online)
        let back = "route add default via 10.9.0.2"
        let steps: [(line: String, isThere: Bool, status: ReachabilityStatus)] = [
            ("route del default", false, .offline(.noRoute)), (back, false, online),
            // With the link goes the route, unsaid: the link alone does not bring it back.
            ("link set v0 down", false, .offline(.noLink)), ("link set v0 up", false, .offline(.noRoute)), (back, false, online),
            ("addr del 10.9.0.1/24 dev v0", false, .offline(.noAddress)),
            ("addr add 10.9.0.1/24 dev v0", false, .offline(.noRoute)),
            (back, false, online),
            // A cable that is pulled takes nothing with it.
            ("link set v1 down", true, .offline(.noLink)), ("link set v1 up", true, online),
            ("link del v0", false, .offline(.noLink)),
        ]
        for step in steps {
            try (step.isThere ? field.there : field.here).ip(step.line)
            #expect(await statuses.next() == step.status, "\(step.line)")
            #expect(monitor.status == step.status)
        }
        monitor.stop()
        #expect(await statuses.next() == nil)
        #expect(monitor.status == .unknown)
    }

    @Test("A machine with loopback alone is offline")
    func loopbackAlone() async throws {
        let here = try NetworkNamespace()
        try here.ip("link set lo up")
        let monitor = try here.inside { try ReachabilityMonitor() }
        defer { monitor.stop() }
        var statuses = monitor.statuses().makeAsyncIterator()
        #expect(await statuses.next() == .offline(.noLink))
    }

    @Test("What changes without end is told in the end")
    func settles() async throws {
        let field = try await Field()
        let monitor = try field.monitor()
        defer { monitor.stop() }
        for _ in 0..<30 {
            try field.here.ip("route del default", "link set v0 down", "link set v0 up", "route add default via 10.9.0.2")
        }
        try field.here.ip("route del default")
        for await status in monitor.statuses() where status == .offline(.noRoute) { break }
        // Another one, which saw no change, comes to the same. The kernel reports that v0 runs only some time after `link set v0 up`:
        // until then both may say that there is no link.
        let late = try field.monitor()
        defer { late.stop() }
        for await status in late.statuses() where status == .offline(.noRoute) { break }
        for await status in monitor.statuses() where status == .offline(.noRoute) { break }
    }

    @Test("Where the kernel says more than finds room, it is asked anew (ENOBUFS)")
    func losesNothingForGood() async throws {
        let field = try await Field()
        let isHeld = Gate()
        let letGo = Gate()
        let monitor = try field.here.inside {
            try ReachabilityMonitor { status in
                guard status == .offline(.forced) else { return }
                isHeld.open()
                letGo.wait()
            }
        }
        defer { monitor.stop() }
        var statuses = monitor.statuses().makeAsyncIterator()
        #expect(await statuses.next() == online)
        monitor.force(.offline(.forced))
        #expect(isHeld.wait())
        // Each of these is told to everybody, with some 1.5 KiB.
        for number in 0..<400 { try field.here.ip("link set v0 mtu \(number % 2 == 0 ? 1400 : 1500)") }
        try field.here.ip("route del default")
        #expect(try Self.lostMessages(in: field.here) > 0)
        letGo.open()
        monitor.force(nil)
        #expect(await statuses.next() == .offline(.forced))
        var last = await statuses.next()
        while last == online { last = await statuses.next() }
        #expect(last == .offline(.noRoute))
    }

    @Test("A forced status is told once, and stays whatever the kernel says until it is taken back")
    func forces() async throws {
        let field = try await Field()
        let monitor = try field.monitor()
        defer { monitor.stop() }
        var statuses = monitor.statuses().makeAsyncIterator()
        #expect(await statuses.next() == online)
        for _ in 0..<2 { monitor.force(.offline(.forced)) }
        #expect(await statuses.next() == .offline(.forced))
        let unforced = try field.monitor()
        defer { unforced.stop() }
        try field.here.ip("link set v0 down")
        for await status in unforced.statuses() where status == .offline(.noLink) { break }
        #expect(monitor.status == .offline(.forced))
        monitor.force(nil)
        // The kernel may not have reached this monitor yet, which then still is where it was.
        var last = await statuses.next()
        while last == online { last = await statuses.next() }
        #expect(last == .offline(.noLink))
        let other = ReachabilityStatus.online(NetworkPath(interfaceName: "w0", kind: .wireless, isMetered: true))
        monitor.force(other)
        #expect(await statuses.next() == other)
        // Who comes later has the same, like a change.
        var late = monitor.statuses().makeAsyncIterator()
        #expect(await late.next() == other)
    }

    @Test("It starts and stops fifty times, and neither a descriptor nor a thread is left")
    func leavesNothing() async throws {
        let here = try NetworkNamespace()
        try here.ip("link set lo up")
        let before = (Self.descriptors(), Self.threads())
        for number in 0..<50 {
            let monitor = try here.inside { try ReachabilityMonitor() }
            let statuses = monitor.statuses()
            if number % 2 == 0 { for await _ in statuses { break } }
            monitor.stop()
            monitor.stop()
            monitor.force(.unknown)
            // Both end; in the one that was there the first status may be left.
            for await status in statuses { #expect(status == .offline(.noLink)) }
            for await _ in monitor.statuses() { Issue.record("told after the end") }
        }
        // The last reference ends it too.
        _ = try here.inside { try ReachabilityMonitor() }
        #expect(Self.descriptors() == before.0 && Self.threads() == before.1)
    }

    @Test("Who does not read finds the latest statuses, and no more than the limit")
    func boundsUnread() async throws {
        let board = StatusBoard { _ in }
        let statuses = board.statuses()
        for number in 0..<StatusBoard.unreadLimit + 10 {
            board.tell(.online(NetworkPath(interfaceName: "e\(number)", kind: .wired)))
        }
        _ = board.end()
        var names: [String] = []
        for await case .online(let path) in statuses { names.append(path.interfaceName) }
        #expect(names == (10..<StatusBoard.unreadLimit + 10).map { "e\($0)" })
    }

    /// Of the sockets of netlink in this network.
    private static func lostMessages(in network: NetworkNamespace) throws -> Int {
        let table = try network.inside { try String(contentsOfFile: "/proc/thread-self/net/netlink", encoding: .utf8) }
        // sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode
        return table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            return columns.count > 8 ? Int(columns[8]) : nil
        }.reduce(0, +)
    }

    /// Sockets, epoll sets and eventfds of this process.
    private static func descriptors() -> Int {
        let folder = "/proc/self/fd"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.count { name in
            guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\(name)") else {
                return false
            }
            return target.hasPrefix("socket:") || target.hasPrefix("anon_inode:")
        }
    }

    private static func threads() -> Int {
        let folder = "/proc/self/task"
        return ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).count { id in
            (try? String(contentsOfFile: "\(folder)/\(id)/comm", encoding: .utf8)) == "reachability\n"
        }
    }
}
