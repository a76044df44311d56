import Foundation
import TestSupport
import Testing

@testable import LarderCLI

@Suite("larder approvals")
struct ApprovalCommandTests {
    typealias Served = ServeTests.Served

    private func larder(_ served: Served, _ words: String...) throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder(["approvals"] + words + ["--socket", "\(served.folder.path)/admin.sock"])
    }

    /// Waits until a request waits, and returns its id.
    private func waiting(_ served: Served, _ url: String) throws -> String {
        var line = ""
        try eventually {
            line = try larder(served).output.split(separator: "\n").map(String.init).first { $0.contains(url) } ?? ""
            return !line.isEmpty
        }
        return String(line.prefix(16))
    }

    private func get(_ url: String, _ served: Served) throws -> RawClient {
        let client = try RawClient(port: UInt16(try #require(try served.ports().first)))
        client.send("GET \(url) HTTP/1.1\r\nHost: a\r\n\r\n")
        return client
    }

    private func lines(_ event: String, in folder: TemporaryFolder) throws -> [[String: Any]] {
        try String(contentsOfFile: "\(folder.path)/audit.ndjson", encoding: .utf8).split(separator: "\n").compactMap { line in
            let line = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
            if line["event"] as? String == event {
                #expect(Schema.faults(of: line, in: "audit-log.schema.json") == [])
                return line
            }
            return nil
        }
    }

    @Test("Requests are listed, allowed and denied; the audit log has questions, answers, approver and the stop")
    func answers() throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "x") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let served = try Served(
            """
            log: {audit: \(folder.path)/audit.ndjson}
            egress: {default: deny, addresses: {private: allow}}
            rules: [{name: question, ask: {timeout: 1h}}]

            """, in: folder, environment: ["XDG_STATE_HOME": folder.path])
        _ = try served.ports()
        #expect(try larder(served).output == "no request waits\n")
        let base = "http://127.0.0.1:\(origin.port)"
        let first = try get("\(base)/a", served)
        let id = try waiting(served, "\(base)/a")
        #expect(try larder(served, "allow", id).output == "allowed GET \(base)/a\n")
        #expect(try first.readResponse().status == 200)
        let again = try larder(served, "allow", id)
        #expect(again.code == 1 && again.talk.contains("No request with this id waits"))
        let second = try get("\(base)/b", served)
        #expect(try larder(served, "deny", waiting(served, "\(base)/b")).code == 0)
        #expect(try second.readResponse().status == 403)
        let third = try get("\(base)/c", served)
        let held = try waiting(served, "\(base)/c")
        let always = try larder(served, "allow", held, "--for", "always")
        #expect(always.code == 1 && always.talk.contains("set approvals.file"))
        #expect(try larder(served, "allow", "xyz").code == 2)
        served.signal(SIGTERM)
        #expect(try third.readResponse().text.contains("\"detail\":\"stopping\""))
        #expect(served.hasEnded())
        #expect(try lines("asked", in: folder).count == 3)
        let ended = try lines("answered", in: folder)
        #expect(ended.map { $0["ending"] as? String } == ["allowed", "denied", "stopped"])
        #expect(ended.map { $0["verdict"] as? String } == ["allowed", "denied", "denied"])
        #expect(ended[0]["approver"] as? String == "uid \(getuid())" && ended[0]["id"] as? String == id)
        #expect(ended[2]["approver"] == nil && ended[2]["id"] as? String == held)
    }

    @Test("A permanent answer is a rule in the named file, which the next start includes")
    func keeps() throws {
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "x") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let yaml = """
            approvals: {file: approvals.yaml}
            egress: {default: deny, addresses: {private: allow}}
            rules: [{name: question, ask: {timeout: 1h}}]

            """
        let url = "http://127.0.0.1:\(origin.port)/a"
        let first = try Served(yaml, in: folder)
        for (path, word) in [("", "allow"), ("/denied", "deny")] {
            let client = try get(url + path, first)
            #expect(try larder(first, word, waiting(first, url + path), "--for", "always").code == 0)
            #expect(try client.readResponse().status == (word == "allow" ? 200 : 403))
        }
        first.signal(SIGTERM)
        #expect(first.hasEnded())
        let text = try String(contentsOfFile: "\(folder.path)/approvals.yaml", encoding: .utf8)
        #expect(text.contains("\"match\":{\"host\":\"127.0.0.1\",\"scheme\":\"http\",\"port\":\(origin.port),\"method\":\"GET\""))
        let second = try Served(yaml, in: folder)
        #expect(try get(url, second).readResponse().status == 200)
        #expect(try get(url + "/denied", second).readResponse().text.contains("denied_by_rule"))
        #expect(try larder(second).output == "no request waits\n")
    }

    @Test("A file to which no rule can be added stays as it is, and the answer still applies")
    func keepsForeignFile() throws {
        let folder = try TemporaryFolder()
        for text in ["rules: [{name: a, deny: {}}]\n", "rules:\n- {name: a, deny: {}}\nvariables: {b: c}\n", "nonsense"] {
            let path = try folder.write(text, to: "rules.yaml")
            #expect(throws: (any Error).self) { try ApprovalRules.append("{\"name\":\"b\",\"deny\":{}}", to: path) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        }
        let good = try folder.write("rules:\n  - {name: a, deny: {}}", to: "good.yaml")
        try ApprovalRules.append("{\"name\":\"b\",\"deny\":{}}", to: good)
        #expect(
            try String(contentsOfFile: good, encoding: .utf8)
                == "rules:\n  - {name: a, deny: {}}\n  - {\"name\":\"b\",\"deny\":{}}\n")
    }

    @Test("A webhook gets each question, and one that never answers delays nothing")
    func webhook() throws {
        let got = DispatchSemaphore(value: 0)
        let hook = ScriptedOrigin.answering { request, connection in
            _ = connection.readBody(of: request)
            got.signal()
            // Larder's time limit for the webhook is longer than this test.
            _ = connection.readHead()
            return false
        }
        defer { hook.stop() }
        let origin = ScriptedOrigin.answering { _, connection in connection.respond(body: "x") }
        defer { origin.stop() }
        let served = try Served(
            """
            approvals: {webhook: 'http://127.0.0.1:\(hook.port)/hook?token=secret'}
            egress: {addresses: {private: allow}}
            rules: [{name: question, ask: {timeout: 1h}}]

            """)
        let base = "http://127.0.0.1:\(origin.port)"
        let first = try get("\(base)/a", served)
        #expect(got.wait(timeout: .now() + .seconds(Deadline.seconds)) == .success)
        #expect(hook.requestHeads.first?.hasPrefix("POST /hook?token=secret ") == true)
        let second = try get("\(base)/b", served)
        for (client, path) in [(second, "/b"), (first, "/a")] {
            #expect(try larder(served, "allow", waiting(served, base + path)).code == 0)
            #expect(try client.readResponse().status == 200)
        }
    }
}
