import CLarderLinux
import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Reachability

private let online = ReachabilityStatus.online(NetworkPath(interfaceName: "v0", kind: .wired))

/// A network whose link `v0` is connected to another network.
private struct Field {
    let here: NetworkNamespace
    let there: NetworkNamespace

    init() async throws {
        here = try NetworkNamespace()
        there = try NetworkNamespace()
        try here.connect("v0", to: there, "v1")
        try there.ip("addr add 10.9.0.2/24 dev v1", "link set v1 up")
        // Disables IPv6, if there is any: its addresses would appear by themselves some time later.
        try here.inside { try? Data("1".utf8).write(to: URL(filePath: "/proc/sys/net/ipv6/conf/v0/disable_ipv6")) }
        try here.ip("link set lo up", "addr add 10.9.0.1/24 dev v0", "link set v0 up", "route add default via 10.9.0.2")
        // The link's two ends detect each other only some time after they are up.
        try await waitUntilOnline()
    }

    private func waitUntilOnline() async throws {
        let monitor = try monitor()
        defer { monitor.stop() }
        for await status in monitor.statuses() where status == online { break }
    }

    func monitor() throws -> ReachabilityMonitor { try here.inside { try ReachabilityMonitor() } }
}

// Serialized, because one test counts the process's descriptors.
@Suite(
    "Reachability in a network namespace", .serialized, .timeLimit(.minutes(2)),
    .enabled(if: NetworkNamespace.canBeMade, Comment(rawValue: NetworkNamespace.neededToMake ?? "")))
struct ReachabilityMonitorTests {
    @Test(
        "Each change of link, route, address or carrier is reported once, in order; the current status is reported first"
    )
    func tellsInOrder() async throws {
        let field = try await Field()
        let monitor = try field.monitor()
        var statuses = monitor.statuses().makeAsyncIterator()
        #expect(await statuses.next() == online)
        let back = "route add default via 10.9.0.2"
        let steps: [(line: String, isThere: Bool, status: ReachabilityStatus)] = [
            ("route del default", false, .offline(.noRoute)), (back, false, online),
            // The kernel removes the route with the link, without a message: bringing the link up again does not restore the route.
            ("link set v0 down", false, .offline(.noLink)), ("link set v0 up", false, .offline(.noRoute)), (back, false, online),
            ("addr del 10.9.0.1/24 dev v0", false, .offline(.noAddress)),
            ("addr add 10.9.0.1/24 dev v0", false, .offline(.noRoute)),
            (back, false, online),
            // An unplugged cable removes neither address nor route.
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

    @Test("A machine with only loopback is offline")
    func loopbackAlone() async throws {
        let here = try NetworkNamespace()
        try here.ip("link set lo up")
        let monitor = try here.inside { try ReachabilityMonitor() }
        defer { monitor.stop() }
        var statuses = monitor.statuses().makeAsyncIterator()
        #expect(await statuses.next() == .offline(.noLink))
    }

    @Test("After many quick changes the final status is reported")
    func settles() async throws {
        let field = try await Field()
        let monitor = try field.monitor()
        defer { monitor.stop() }
        for _ in 0..<30 {
            try field.here.ip("route del default", "link set v0 down", "link set v0 up", "route add default via 10.9.0.2")
        }
        try field.here.ip("route del default")
        for await status in monitor.statuses() where status == .offline(.noRoute) { break }
        // A second monitor, which saw none of the changes, reports the same. The kernel reports `v0` as running only some time
        // after `link set v0 up`: until then both monitors may report `noLink`.
        let late = try field.monitor()
        defer { late.stop() }
        for await status in late.statuses() where status == .offline(.noRoute) { break }
        for await status in monitor.statuses() where status == .offline(.noRoute) { break }
    }

    @Test("If kernel messages overflow the socket's buffer, the state is requested again (ENOBUFS)")
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
        // Each of these changes sends a message of about 1.5 KiB to every listener.
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

    @Test("A forced status is reported once, and replaces the kernel's until it is withdrawn")
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
        // The kernel's message may not have reached this monitor yet; its status is then still `online`.
        var last = await statuses.next()
        while last == online { last = await statuses.next() }
        #expect(last == .offline(.noLink))
        let other = ReachabilityStatus.online(NetworkPath(interfaceName: "w0", kind: .wireless, isMetered: true))
        monitor.force(other)
        #expect(await statuses.next() == other)
        // A later listener gets the forced status as its first one.
        var late = monitor.statuses().makeAsyncIterator()
        #expect(await late.next() == other)
    }

    @Test("Fifty monitors started and stopped leave no descriptor and no thread")
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
            // Both streams end; the one opened before `stop` may still hold its first status.
            for await status in statuses { #expect(status == .offline(.noLink)) }
            for await _ in monitor.statuses() { Issue.record("told after the end") }
        }
        // Releasing the last reference stops the monitor, too.
        _ = try here.inside { try ReachabilityMonitor() }
        #expect(Self.descriptors() == before.0 && Self.threads() == before.1)
    }

    @Test("A listener that does not read gets the latest statuses, up to the limit")
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

    /// The number of messages dropped by the netlink sockets in this network.
    private static func lostMessages(in network: NetworkNamespace) throws -> Int {
        let table = try network.inside { try String(contentsOfFile: "/proc/thread-self/net/netlink", encoding: .utf8) }
        // sk Eth Pid Groups Rmem Wmem Dump Locks Drops Inode
        return table.split(separator: "\n").dropFirst().compactMap { line in
            let columns = line.split(separator: " ", omittingEmptySubsequences: true)
            return columns.count > 8 ? Int(columns[8]) : nil
        }.reduce(0, +)
    }

    /// The number of this process's sockets, epoll sets and eventfds.
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
