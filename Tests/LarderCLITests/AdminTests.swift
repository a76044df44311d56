import Foundation
import TestSupport
import Testing

@testable import LarderCLI

@Suite("larder status, reload and stop")
struct AdminTests {
    typealias Served = ServeTests.Served

    /// A subcommand for the Larder with this admin socket.
    private func larder(_ verb: String, _ served: Served, _ arguments: String...) throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder([verb, "--set", "admin.socket=\(served.folder.path)/admin.sock"] + arguments)
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    @Test("status reports the running Larder and its statistics, as text and as JSON")
    func saysItsStatus() throws {
        let origin = ScriptedOrigin.answering { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 5\r\n\r\nhello")
        }
        defer { origin.stop() }
        let served = try Served("loops: 3\n")
        let port = try #require(try served.ports().first)
        for _ in 0..<3 {
            let client = try RawClient(port: UInt16(port))
            client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try client.readResponse().text == "hello")
            // The exchange is counted before its connection ends.
            #expect(client.isClosedByPeer())
        }
        _ = try served.folder.write("loops: 2\n", to: "larder.yaml")
        #expect(try larder("reload", served).code == 0)

        let status = try larder("status", served, "-o", "json")
        #expect(status.code == 0)
        let object = try json(status.output)
        #expect(object["version"] as? String == Version.number && object["loops"] as? Int == 3)
        #expect(object["pid"] as? Int == Int(served.process.processIdentifier))
        #expect((object["listeners"] as? [String])?.first == "127.0.0.1:\(port)")
        let requests = try #require(object["requests"] as? [String: Any])
        #expect(requests["total"] as? Int == 3 && requests["hits"] as? Int == 2)
        #expect(requests["outcomes"] as? [String: Int] == ["hit": 2, "miss": 1])
        #expect(object["bytes"] as? [String: Int] == ["sent": 15, "saved": 10])
        #expect((object["memory"] as? [String: Any])?["entries"] as? Int == 1)
        let warnings = try #require(object["warnings"] as? [[String: String]])
        #expect(warnings.first?["message"] == "loops has changed; the change takes effect at the next start")

        let text = try larder("status", served)
        #expect(text.code == 0 && text.output.contains("requests     3, 2 hits (66 %): hit 2, miss 1\n"))
    }

    @Test("status lists the requests that report mode forwarded and those on which the shadow differs; long texts are cut")
    func listsReports() throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "hello") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        _ = try folder.write("rules: [{name: strict, match: {path: /b}, deny: {}}]\n", to: "next.yaml")
        let served = try Served(
            """
            egress: {default: deny, enforce: report, addresses: {private: allow}}
            policy: {shadow: next.yaml}
            rules:
              - {name: pub, match: {scheme: http, method: GET, path: [/a, /b]}, allow: {}}
              - {name: never, match: {path: /never}, deny: {}}
            """, in: folder)
        let port = try #require(try served.ports().first)
        let long = String(repeating: "M", count: 3000)
        for (method, path) in [("GET", "/a"), ("GET", "/b"), ("GET", "/c"), ("GET", "/c"), ("GET", "/never"), (long, "/a")] {
            let client = try RawClient(port: UInt16(port))
            client.send("\(method) http://127.0.0.1:\(origin.port)\(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            #expect(try client.readResponse().text == "hello")
            #expect(client.isClosedByPeer())
        }
        let text = try larder("status", served).output
        let url = "http://127.0.0.1:\(origin.port)"
        let rule = "{\"match\":{\"host\":\"127.0.0.1\",\"port\":\(origin.port),\"method\":\"GET\",\"path\":\"/c\"},\"allow\":{}}"
        #expect(text.contains("enforce      report: forwarded requests that would be denied: 4\n"), "\(text)")
        #expect(text.contains("would deny   2 x GET \(url)/c: egress_denied; allowed by \(rule)\n"), "\(text)")
        #expect(text.contains("would deny   1 x GET \(url)/never: rule never\n"), "\(text)")
        #expect(text.contains("would deny   1 x \(String(long.prefix(64)))… \(url)/a: egress_denied\n"), "\(text)")
        #expect(
            text.contains("differs      1 x GET \(url)/b: allowed, denied_by_rule by rule strict under policy.shadow\n"),
            "\(text)")
        #expect(text.contains("shadow       5 verdicts differ\n"), "\(text)")
    }

    @Test("status counts storable responses that were not stored, by reason")
    func countsUnstored() throws {
        let body = String(repeating: "a", count: 5 << 20)
        let origin = ScriptedOrigin.answering { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: \(body.utf8.count)\r\n\r\n" + body)
        }
        defer { origin.stop() }
        // A store in memory accepts bodies up to 4 MiB.
        let served = try Served()
        let port = try #require(try served.ports().first)
        #expect(!(try larder("status", served).output.contains("not stored")))
        let client = try RawClient(port: UInt16(port))
        client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        #expect(try client.readResponse().text.utf8.count == body.utf8.count)
        let status = try json(try larder("status", served, "-o", "json").output)
        let store = try #require(status["store"] as? [String: Any])
        #expect(store["unstored"] as? [String: Int] == ["body_too_long": 1] && store["refused_busy"] as? Int == 0)
        #expect(try larder("status", served).output.contains("not stored   1: body_too_long 1\n"))
    }

    @Test("config check, the start and the status warn about a weakened policy")
    func warnsOfWeakness() throws {
        let served = try Served("tls: {hosts: {old.example: {allow_expired: true, until: 2099-12-31}}}\n")
        _ = try served.ports()
        let sentence =
            "tls.hosts.old.example (\(served.folder.path)/larder.yaml:1:15): this policy is weakened until 2099-12-31: "
            + "certificates may have expired"
        let status = try json(try larder("status", served, "-o", "json").output)
        let warnings = try #require(status["warnings"] as? [[String: String]])
        #expect(warnings.map { $0["message"] } == [sentence])
        let check = try CommandLineTests.larder("config", "check", "-c", "\(served.folder.path)/larder.yaml")
        #expect(check.code == 0 && check.talk == "larder: warning: \(sentence)\n")
    }

    @Test("A reload with a missing pins file is refused, and the active settings stay")
    func keepsTrust() throws {
        let served = try Served("tls: {hosts: {a.example: {pins: {of: sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=}}}}\n")
        _ = try served.ports()
        _ = try served.folder.write("tls: {hosts: {a.example: {pins: {of: none.pem}}}}\n", to: "larder.yaml")
        let reload = try larder("reload", served)
        #expect(
            reload.code != 0
                && (reload.output + reload.talk).contains("larder.yaml:1:38: tls.hosts.a.example.pins.of: cannot read"))
    }

    @Test("Without a free descriptor the admin socket waits without using CPU, and responds once there is one")
    func waitsForDescriptors() throws {
        let served = try Served()
        _ = try served.ports()
        try limitDescriptors(of: served, to: 1)
        let client = try RawClient(socketPath: "\(served.folder.path)/admin.sock")
        client.send("GET /v1/status HTTP/1.1\r\nHost: larder\r\n\r\n")
        let before = try adminNanoseconds(of: served)
        #expect(!client.hasInput(withinMilliseconds: 500))
        #expect(try adminNanoseconds(of: served) - before < 20_000_000)
        try limitDescriptors(of: served, to: 200)
        #expect(try client.readResponse().status == 200)
    }

    private func limitDescriptors(of served: Served, to count: Int) throws {
        let outcome = try CommandLineTests.shell(
            "prlimit --pid $pid --nofile=$count:", ["pid": "\(served.process.processIdentifier)", "count": "\(count)"])
        #expect(outcome.code == 0, "\(outcome.talk)")
    }

    /// The CPU time of the admin socket's thread.
    private func adminNanoseconds(of served: Served) throws -> Int {
        let outcome = try CommandLineTests.shell(
            "grep -lx admin /proc/$pid/task/*/comm | sed s/comm/schedstat/ | xargs cut -d' ' -f1",
            ["pid": "\(served.process.processIdentifier)"])
        return try #require(Int(outcome.output.dropLast()))
    }

    @Test(
        "reload activates new settings and reports those that need a restart; invalid settings are refused as a whole with code 2"
    )
    func reloads() throws {
        let served = try Served()
        _ = try served.ports()
        _ = try served.folder.write("loops: 7\nlimits: {fields: 50}\n", to: "larder.yaml")
        let done = try larder("reload", served)
        #expect(done.code == 0)
        #expect(done.output == "the settings were reloaded\nloops has changed; the change takes effect at the next start\n")
        _ = try served.folder.write("stroe: {}\n", to: "larder.yaml")
        let refused = try larder("reload", served)
        #expect(refused.code == 2 && refused.output.isEmpty)
        #expect(refused.talk.contains("larder.yaml:1:1: unknown key `stroe`; did you mean `store`?"))
        let object = try json(try larder("reload", served, "-o", "json").output)
        #expect(object["reloaded"] as? Bool == false && (object["problems"] as? [String])?.count == 1)
    }

    @Test("stop lets exchanges in flight end, and returns after the process has ended and its socket is removed")
    func stops() throws {
        let asked = Gate()
        let release = Gate()
        let origin = ScriptedOrigin.answering { _, connection in
            asked.open()
            release.wait()
            return connection.respond(body: "late")
        }
        defer { origin.stop() }
        let served = try Served()
        let port = try #require(try served.ports().first)
        let client = try RawClient(port: UInt16(port))
        client.send("GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(asked.wait())
        let idle = try RawClient(port: UInt16(port))
        let socket = "\(served.folder.path)/admin.sock"
        let admin = try RawClient(socketPath: socket)
        admin.send("POST /v1/stop HTTP/1.1\r\nHost: larder\r\nContent-Length: 0\r\n\r\n")
        #expect(try admin.readResponse().status == 202)
        // The drain has begun.
        #expect(idle.isClosedByPeer())
        release.open()
        #expect(try client.readResponse().text == "late")
        #expect(served.hasEnded() && served.process.terminationStatus == 0)
        #expect(!FileManager.default.fileExists(atPath: socket))

        let second = try Served()
        _ = try second.ports()
        let stopped = try larder("stop", second)
        #expect(stopped.code == 0 && stopped.output == "stopping\n")
        #expect(kill(second.process.processIdentifier, 0) != 0 || second.hasEnded())
    }

    @Test("Without a running Larder, the subcommands report that and exit with 1", arguments: ["status", "reload", "stop"])
    func findsNothing(verb: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.larder(verb, "--set", "admin.socket=\(folder.path)/none.sock")
        #expect(outcome.code == 1 && outcome.output.isEmpty)
        #expect(outcome.talk == "larder: Larder is not running: no process answers on \(folder.path)/none.sock\n")
    }

    @Test("A second Larder on the same socket does not start, and the first keeps running")
    func refusesASecond() throws {
        let served = try Served()
        _ = try served.ports()
        let socket = "\(served.folder.path)/admin.sock"
        let second = try CommandLineTests.larder(
            "serve", "--listen", "127.0.0.1:0", "--store", ":memory:", "--set", "admin.socket=\(socket)")
        #expect(second.code == 1)
        #expect(second.talk.contains("\(socket) is in use by another process; set admin.socket to another path, or to off"))
        #expect(try larder("status", served).code == 0)
    }

    @Test("The socket of a killed Larder is replaced")
    func replacesALeftOver() throws {
        let killed = try Served()
        _ = try killed.ports()
        killed.signal(SIGKILL)
        #expect(killed.hasEnded())
        let again = try Served(in: killed.folder)
        _ = try again.ports()
        #expect(try larder("status", again).code == 0)
    }

    @Test("A request to the proxy never reaches the admin socket (T07)")
    func isNotReachedThroughTheProxy() throws {
        let served = try Served()
        let port = try #require(try served.ports().first)
        for target in ["/v1/status", "http://larder/v1/status", "http://localhost:\(port)/v1/status", "unix:/v1/status"] {
            let client = try RawClient(port: UInt16(port))
            client.send("GET \(target) HTTP/1.1\r\nHost: larder\r\nConnection: close\r\n\r\n")
            let response = try client.readResponse()
            #expect(response.status >= 400 && !response.text.contains("uptime_ms"), "\(target)")
        }
    }
}
