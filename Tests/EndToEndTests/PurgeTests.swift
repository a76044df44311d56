import EventLoop
import Foundation
import HTTPMessage
import ProxyServer
import ResponseStore
import Synchronization
import TestSupport
import Testing

@Suite("Purges under load", .serialized)
struct PurgeTests {
    /// The origin's current version, and the latest version for which a purge of all earlier ones was acknowledged.
    final class Versions: Sendable {
        let current = Atomic(1)
        let promised = Atomic(1)
        let isOver = Atomic(false)
    }

    enum Tiers: CaseIterable { case memory, disk }

    /// Tests/Long/purges.sh sets 1,000.
    private static let rounds = ProcessInfo.processInfo.environment["LARDER_PURGE_ROUNDS"].flatMap { Int($0) } ?? 60

    /// The origin's paths: bodies in memory, in chunks on the disk, and of a length that the origin does not declare.
    private static let paths = ["/small", "/large", "/chunked"]

    private static func answer(_ path: String, _ version: Int, _ connection: borrowing OriginConnection) -> Bool {
        let text = "\(version) "
        let body = path == "/small" ? text : text + String(repeating: "x", count: 100_000)
        guard path == "/chunked" else { return connection.respond(fields: "Cache-Control: max-age=600\r\n", body: body) }
        connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=600\r\nTransfer-Encoding: chunked\r\n\r\n")
        connection.send("\(String(body.utf8.count, radix: 16))\r\n")
        return connection.send("\(body)\r\n0\r\n\r\n")
    }

    private static func version(_ response: ReceivedResponse) -> Int {
        Int(String(decoding: response.body.prefix { $0 != 0x20 }, as: UTF8.self)) ?? -1
    }

    @Test(
        "No response from before an acknowledged purge is served, on 4 loops", arguments: Tiers.allCases,
        [false, true])
    func neverGivesPurged(tiers: Tiers, isSoft: Bool) throws {
        let versions = Versions()
        let stage = try Stage(
            loops: 4, storePath: nil, store: { if tiers == .disk { $0.memory = .init(high: 1 << 10, low: 1 << 9) } },
            answer: { request, connection in
                let version = versions.current.load(ordering: .sequentiallyConsistent)
                // Every third response is delayed, so that its version may be old when it arrives.
                if version % 3 == 0 { connection.pause(milliseconds: 2) }
                return Self.answer(request.target, version, connection)
            })
        let heads = Self.paths.map { stage.head("GET", $0) }
        let port = stage.proxy.port
        let server = stage.proxy.server
        let urls = Self.paths.map { stage.url($0) }
        let stale = try concurrently(3) { asker -> [String] in
            defer { versions.isOver.store(true, ordering: .relaxed) }
            // The last client purges, and then sends requests on four connections.
            let clients = try (0..<(asker == 2 ? 4 : 1)).map { _ in try RawClient(port: port) }
            var faults: [String] = []
            func ask(_ client: RawClient, _ path: Int) throws {
                let least = versions.promised.load(ordering: .sequentiallyConsistent)
                client.send(heads[path])
                let version = Self.version(try client.readResponse())
                if version < least { faults.append("\(Self.paths[path]): \(version), where \(least) was promised") }
            }
            var round = 0
            while asker == 2 ? round < Self.rounds : !versions.isOver.load(ordering: .relaxed) {
                round += 1
                if asker == 2 {
                    let new = versions.current.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
                    Self.purge(server, Self.filter(round, urls), isSoft: isSoft)
                    versions.promised.store(new, ordering: .sequentiallyConsistent)
                }
                for client in clients { for path in heads.indices { try ask(client, path) } }
            }
            return faults
        }
        #expect(stale.flatMap { $0 } == [])
    }

    /// Various filters, each of which matches all responses of this origin.
    private static func filter(_ round: Int, _ urls: [String]) -> [StoreFilter] {
        var words: [[(StoreFilter.Word, String)]] = []
        switch round % 4 {
        case 0: words = [[(.host, "127.0.0.1")]]
        case 1: words = [[(.url, urls[0].replacing("/small", with: "/*"))]]
        case 2: words = urls.map { [(.url, $0)] }
        default: words = [[(.status, "2xx")]]
        }
        return words.map { words in
            var filter = StoreFilter()
            for (word, text) in words { precondition(filter.set(word, to: text)) }
            return filter
        }
    }

    private static func purge(_ server: ProxyServer, _ filters: [StoreFilter], isSoft: Bool) {
        for filter in filters {
            let inEffect = DispatchSemaphore(value: 0)
            let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
            while true {
                let isTaken = server.purge(.matching(filter), isSoft: isSoft, at: now) { progress in
                    if case .inEffect = progress { inEffect.signal() }
                }
                if isTaken { break }
            }
            precondition(inEffect.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success, "no acknowledgement")
        }
    }
}
