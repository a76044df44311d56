import EventLoop
import Foundation
import ParentSelection
import ProxyServer
import TestSupport
import Testing

@Suite("Parents: Larders that share requests by a hash")
struct ParentTests {
    /// The outcomes of requests on several threads.
    private final class Tally: Sendable {
        private let outcomes = Guarded<[String?]>([])
        var count: Int { outcomes.withLock { $0.count } }
        var failures: [String] { outcomes.withLock { $0.compactMap { $0 } } }
        func note(_ failure: String?) { outcomes.withLock { $0.append(failure) } }
    }

    @Test("A parent caches https URLs, and all children send a URL to the same parent")
    func shares() throws {
        let stage = try ParentStage(parents: 3)
        let children = [try stage.child(), try stage.child()]
        for child in children {
            for number in 0..<20 {
                let response = try stage.fetch("/\(number)", through: child)
                #expect(response.status == 200)
                #expect(response.text == "answer to GET /\(number)")
            }
        }
        #expect(stage.origin.requestHeads.count == 20)
        let requests = children[0].server.parentGroups[0].state.members.map(\.requests)
        #expect(requests.reduce(0, +) == 20)
        #expect(requests.count { $0 > 0 } >= 2)
        // The child itself has stored the responses too, although the parent has verified the origin.
        #expect(try stage.fetch("/1", through: children[0]).status == 200)
        #expect(children[0].server.parentGroups[0].state.members.reduce(0) { $0 + $1.requests } == 20)
        #expect(try children[0].logLines()[0].contains(",\"way\":\"farm\""))
        #expect(try Set(stage.parentMethods()) == ["GET"])
    }

    @Test(
        "Larder itself verifies pinned hosts, hosts with a policy of their own, and origins that get credentials: by CONNECT",
        arguments: [
            ("pinned.test", ""), ("own.test", ""), ("one.test", "Authorization: Basic eDp5\r\n"), ("one.test", "Cookie: a=b\r\n"),
        ])
    func verifiesItself(host: String, fields: String) throws {
        let stage = try ParentStage(parents: 2)
        let child = try stage.child()
        let response = try stage.fetch("/a", of: host, through: child, fields: fields)
        #expect(response.status == 200, "\(response.text)")
        #expect(response.text == "answer to GET /a")
        #expect(try stage.parentMethods() == ["CONNECT"])
    }

    @Test("A rule with parent_verifies lets the parent verify, and a rule with upstream: direct bypasses the parents")
    func rules() throws {
        let stage = try ParentStage(parents: 2)
        let child = try stage.child(
            """
            resolve: {one.test: 127.0.0.1}
            rules:
              - {name: trusted, match: {host: pinned.test}, upstream: {name: farm, parent_verifies: true}}
              - {name: near, match: {host: one.test}, upstream: direct}
            """)
        for host in ["pinned.test", "one.test"] {
            #expect(try stage.fetch("/a", of: host, through: child).text == "answer to GET /a")
        }
        #expect(try stage.parentMethods() == ["GET"])
        let lines = try child.logLines()
        #expect(lines[0].contains(",\"way\":\"farm\""))
        #expect(!lines[1].contains("\"way\""))
    }

    @Test("A parent that stops under load costs no request", arguments: [1, 2])
    func survivesLoss(loops: Int) throws {
        let stage = try ParentStage(parents: 3)
        let child = try stage.child(loops: loops)
        let tally = Tally()
        let authority = "one.test:\(stage.origin.port)"
        let port = child.port
        for worker in 0..<6 {
            Thread.detachNewThread {
                for number in 0..<50 {
                    let failure: String?
                    do {
                        let response = try ParentStage.fetch("/\(worker)/\(number)", of: authority, through: port)
                        failure = response.status == 200 ? nil : "\(response.status) \(response.text)"
                    } catch {
                        failure = "\(error)"
                    }
                    tally.note(failure)
                }
            }
        }
        try eventually { tally.count >= 100 }
        stage.parents[1].stop()
        try eventually { tally.count == 300 }
        #expect(tally.failures == [])
        let members = child.server.parentGroups[0].state.members
        #expect(!members[1].isUp)
        #expect(members.allSatisfy { $0.inFlight == 0 })
        #expect(members[0].spilledRequests + members[2].spilledRequests > 0)
    }

    @Test("A request that comes back by way of a parent gets 508")
    func loop() throws {
        let first = try TestProxy(change: { $0.pseudonym = "first" })
        defer { first.stop() }
        func way(to port: UInt16) -> String {
            "upstream: {way: farm, ways: [{name: farm, parents: {members: ['http://127.0.0.1:\(port)']}}]}"
        }
        let second = try TestProxy(way(to: first.port), change: { $0.pseudonym = "second" })
        defer { second.stop() }
        try first.reload(way(to: second.port)) { $0.pseudonym = "first" }
        try eventually { first.server.parentGroups.count == 1 }
        let client = try RawClient(port: first.port, owner: first)
        client.send("GET http://one.test/ HTTP/1.1\r\nHost: one.test\r\n\r\n")
        let response = try client.readResponse()
        #expect(response.status == 508, "\(response.text)")
    }

    @Test("Egress rules for names apply in the child, also to requests for a parent")
    func refusesAddresses() throws {
        let stage = try ParentStage(parents: 1)
        let child = try stage.child()
        #expect(try stage.fetch("/", of: "169.254.169.254", through: child).status == 403)
        #expect(try stage.parentMethods().isEmpty)
    }

    @Test("explain names the way, the parent and the verifier")
    func explains() throws {
        let farm = try ParentStage(parents: 1)
        let explained = try ExplainTests.Explained(
            """
            upstream: {way: farm, ways: [{name: farm, parents: {members: ['https://p1.test:3181']}}, {name: corp, url: 'socks5h://c.test:1080'}]}
            rules:
              - {name: by corp, match: {host: corp.test}, upstream: corp}
              - {name: trusted, match: {host: pinned.test, path: /trusted}, upstream: {name: farm, parent_verifies: true}}
            """, change: { $0.transport.trust = farm.trust })
        func way(_ url: String, _ host: String) throws -> (String, [String: Any]) {
            let response = try explained.ask("POST /v1/explain", body: "GET \(url) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            let json = try response.json
            #expect(Schema.faults(of: json, in: "explain.schema.json") == [])
            let step = (json["steps"] as? [[String: Any]])?.first { $0["step"] as? String == "way" } ?? [:]
            return (step["says"] as? String ?? "", step["values"] as? [String: Any] ?? [:])
        }
        let cached = try way("https://one.test/", "one.test")
        #expect(
            cached.0 == "farm: through the parent https://p1.test:3181, which gets the request; the parent verifies the origin")
        #expect(cached.1["verifier"] as? String == "parent")
        let pinned = try way("https://pinned.test/", "pinned.test")
        #expect(pinned.0 == "farm: through the parent https://p1.test:3181, in a tunnel; Larder verifies the origin")
        #expect(pinned.1["parent"] as? String == "https://p1.test:3181")
        #expect(try way("https://pinned.test/trusted", "pinned.test").1["verifier"] as? String == "parent")
        let socks = try way("http://corp.test/", "corp.test")
        #expect(socks.0 == "corp: through the proxy socks5h://c.test:1080, in a tunnel")
        #expect(socks.1["way"] as? String == "corp")
    }
}
