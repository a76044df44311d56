import Foundation
import HTTPCaching
import HTTPMessage
import ResponseStore
import TestSupport
import Testing

@Suite("larder cache")
struct CacheCommandTests {
    typealias Served = ServeTests.Served
    typealias Outcome = CommandLineTests.Outcome

    private func lines(_ outcome: Outcome) throws -> [[String: Any]] {
        try outcome.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
    }

    @Test("The store of a running Larder is listed, shown, purged and exported, without secrets")
    func asksRunning() throws {
        let origin = ScriptedOrigin.answering { request, connection in
            switch request.target {
            case "/cookie":
                connection.respond(fields: "Cache-Control: max-age=600\r\nSet-Cookie: session=hush\r\n", body: "cookie")
            case "/gone": connection.respond("404 Not Found", fields: "Cache-Control: max-age=600\r\n", body: "gone")
            case "/large":
                connection.respond(
                    fields: "Cache-Control: max-age=600\r\nContent-Type: text/plain\r\n",
                    body: String(repeating: "x", count: 300_000))
            default: connection.respond(fields: "Cache-Control: max-age=600\r\nContent-Type: text/html\r\n", body: "page")
            }
        }
        defer { origin.stop() }
        let served = try Served("rules:\n  - name: tagged\n    match: {path: /tagged}\n    cache: {tags: [index]}\n")
        let port = try #require(try served.ports().first)
        let base = "http://127.0.0.1:\(origin.port)"
        func ask(_ path: String) throws -> ReceivedResponse {
            let client = try RawClient(port: UInt16(port))
            client.send("GET \(base)\(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            let response = try client.readResponse()
            // The response is stored before its connection ends.
            #expect(client.isClosedByPeer())
            return response
        }
        func cache(_ arguments: String...) throws -> Outcome {
            try CommandLineTests.larder(["cache"] + arguments + ["--set", "admin.socket=\(served.folder.path)/admin.sock"])
        }
        for path in ["/", "/tagged", "/cookie", "/gone", "/large"] { _ = try ask(path) }

        #expect(try lines(cache("ls", "-o", "ndjson")).count == 5)
        let text = try cache("ls", "\(base)/*", "--status", "2xx", "--type", "text/html", "--fresh")
        #expect(text.code == 0)
        #expect(text.output.contains("  text/html  \(base)/\n") && text.output.contains("  text/html  \(base)/tagged  #index\n"))
        #expect(text.output.split(separator: "\n").count == 2)
        #expect(try lines(cache("ls", "-o", "ndjson", "--larger-than", "100KiB")).map { $0["size"] as? Int } == [300_000])
        #expect(try lines(cache("ls", "-o", "ndjson", "--limit", "2")).count == 2)

        let shown = try cache("show", "\(base)/cookie")
        #expect(shown.code == 0 && shown.output.contains("Set-Cookie: (left out)") && !shown.output.contains("hush"))
        #expect(try cache("show", "\(base)/cookie", "--secrets").output.contains("hush"))
        #expect(try cache("show", "\(base)/none").code == 1)
        #expect(try cache("cat", "\(base)/large").output == String(repeating: "x", count: 300_000))
        #expect(try cache("stat").output.hasPrefix("responses"))
        #expect(try cache("verify").code == 1)

        let folder = "\(served.folder.path)/export"
        let exported = try cache("export", folder, "--type", "text/plain")
        #expect(exported.code == 0 && exported.output == "exported 1\n")

        #expect(try cache("purge").code == 2)
        #expect(try cache("purge", "\(base)/*", "--dry-run").output == "would purge 5\n")
        #expect(try cache("purge", "--tag", "index").output == "purged 1\n")
        #expect(try cache("purge", "\(base)/large").output == "purged 1\n")
        let all = try cache("purge", "--host", "127.0.0.1", "-o", "json")
        #expect(all.code == 0 && all.output.contains("\"count\": 3"))
        #expect(try cache("ls").output.isEmpty)
        _ = try ask("/")
        #expect(origin.requestHeads.count == 6)
    }

    @Test(
        "A request for a row number that cannot exist reports that nothing is stored, and does not affect Larder",
        arguments: [Int64.min, -1, 0, 1, Int64.max])
    func findsNoSuchRow(row: Int64) throws {
        let served = try Served(store: "store.sqlite")
        _ = try served.ports()
        for verb in ["show", "cat"] {
            let outcome = try CommandLineTests.larder(
                "cache", verb, "--row=\(row)", "--set", "admin.socket=\(served.folder.path)/admin.sock")
            #expect(outcome.code == 1 && outcome.talk == "larder: no such response is stored\n")
        }
        #expect(served.process.isRunning)
    }

    @Test("Without a running Larder the file is read without a lock, and purge takes its lock")
    func readsFile() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store.sqlite"
        let store = try Self.standingStore(at: path)
        for (name, length) in [("a", 10), ("b", 200_000)] {
            var facts = ReuseFacts(status: .ok, responseTime: Timestamp(seconds: 1_700_000_000))
            if name == "a" { facts.flags.insert(.authorized) }
            var head = ResponseHead()
            head.fields.append(name: "Content-Type", value: "text/plain")
            head.fields.append(name: "Set-Cookie", value: "hush")
            _ = store.put(
                StoredResponse(
                    key: Array("http://example.test:80/\(name)".utf8), nominatedFields: [], facts: facts, head: head,
                    requestTime: Timestamp(seconds: 1_700_000_000), body: .bytes([UInt8](repeating: 0x79, count: length))))
        }
        func cache(_ arguments: String...) throws -> Outcome {
            try CommandLineTests.larder(["cache"] + arguments + ["--store", path])
        }
        // The store is open in this process: reading works, purging is refused.
        let refused = try cache("purge", "--all")
        #expect(refused.code == 1 && refused.talk.contains("in use by process"))
        store.shutdown()

        #expect(
            try lines(cache("ls", "-o", "ndjson")).map { $0["url"] as? String } == [
                "http://example.test/a", "http://example.test/b",
            ])
        #expect(try cache("ls", "-o", "json", "--limit", "0").output == "[]\n")
        #expect(try cache("cat", "http://example.test/b").output.utf8.count == 200_000)
        let shown = try cache("show", "http://example.test/b", "-o", "json")
        #expect(shown.output.contains("\"lifetime\": 0") && !shown.output.contains("hush"))
        let verified = try cache("verify")
        #expect(verified.code == 0 && verified.output == "good: 2 responses, 2 chunks, 195.3 KiB\n")

        let export = "\(folder.path)/export"
        let exported = try cache("export", export)
        #expect(exported.output == "exported 1\n" && exported.talk.contains("because the requests had Authorization: 1\n"))
        let index = try String(contentsOfFile: "\(export)/index.ndjson", encoding: .utf8)
        #expect(index.contains("http://example.test/b") && !index.contains("hush"))
        let row = try #require(try JSONSerialization.jsonObject(with: Data(index.utf8)) as? [String: Any])["row"] as? Int
        #expect(try Data(contentsOf: URL(filePath: "\(export)/bodies/\(row ?? 0)")).count == 200_000)
        #expect(try FileManager.default.attributesOfItem(atPath: "\(export)/index.ndjson")[.posixPermissions] as? Int == 0o600)

        #expect(try cache("purge", "http://example.test/a", "--soft").output == "purged 1\n")
        #expect(try cache("purge", "--larger-than", "1KiB").output == "purged 1\n")
        #expect(try lines(cache("ls", "-o", "ndjson")).map { $0["url"] as? String } == ["http://example.test/a"])
        #expect(try cache("ls", "--status", "99").code == 2)
        #expect(try CommandLineTests.larder("cache", "ls", "--store", "\(folder.path)/none").code == 1)
    }

    /// A store in which no response is refused because the disk is slow.
    private static func standingStore(at path: String) throws -> ResponseStore {
        var configuration = StoreConfiguration(path: path)
        configuration.limits.queuedMilliseconds = 60_000
        configuration.limits.stalledMilliseconds = 60_000
        return try ResponseStore(configuration)
    }

    /// A response of which bytes 0 to 9 and 150,000 to 199,999 are stored.
    private func storePart(at path: String) throws {
        let store = try Self.standingStore(at: path)
        defer { store.shutdown() }
        var facts = ReuseFacts(status: .ok, responseTime: Timestamp(seconds: 1_700_000_000))
        facts.flags.insert(.strongETag)
        var head = ResponseHead()
        head.fields.append(name: "ETag", value: "\"p\"")
        for range in [0..<10, 150_000..<200_000] {
            let response = StoredResponse(
                key: Array("http://example.test:80/p".utf8), nominatedFields: [], facts: facts, head: head,
                requestTime: Timestamp(seconds: 1_700_000_000), body: .bytes([]))
            let pending = try #require(
                store.beginPending(
                    PendingPlan(response: response, length: UInt64(range.count), part: (UInt64(range.lowerBound), 200_000))))
            _ = pending.append([UInt8](repeating: 0x79, count: range.count).span)
            pending.finish()
        }
    }

    @Test("A partial response is listed and shown as partial, and only its stored bytes are written")
    func tellsParts() throws {
        let folder = try TemporaryFolder()
        let path = "\(folder.path)/store.sqlite"
        try storePart(at: path)
        func cache(_ arguments: String...) throws -> Outcome {
            try CommandLineTests.larder(["cache"] + arguments + ["--store", path])
        }
        let entry = try #require(try lines(cache("ls", "-o", "ndjson")).first)
        #expect(entry["partial"] as? Bool == true && entry["size"] as? Int == 200_000)
        let shown = try cache("show", "http://example.test/p")
        #expect(shown.code == 0 && shown.output.contains("  in part   50010 bytes stored: 0-9, 150000-199999\n"))
        #expect(try cache("show", "--row", "\(entry["row"] as? Int ?? 0)", "-o", "json").output.contains("\"partial\": true"))
        let whole = try cache("cat", "http://example.test/p")
        #expect(whole.code == 1 && whole.output.isEmpty && whole.talk.contains("bytes 0-9, 150000-199999 of 200000"))
        #expect(try cache("cat", "http://example.test/p", "--range", "2-9").output == "yyyyyyyy")
        #expect(try cache("cat", "http://example.test/p", "--range", "150000-").output.utf8.count == 50_000)
        #expect(try cache("cat", "http://example.test/p", "--range=-5").output == "yyyyy")
        for range in ["0-10", "140000-160000", "300000-", "x"] {
            let refused = try cache("cat", "http://example.test/p", "--range", range)
            #expect(refused.code == (range == "x" ? 2 : 1) && refused.output.isEmpty)
        }
        let export = "\(folder.path)/export"
        let exported = try cache("export", export)
        #expect(exported.output == "exported 1\n" && exported.talk.contains("because only a part is stored: 1\n"))
        #expect(try String(contentsOfFile: "\(export)/index.ndjson", encoding: .utf8).contains("\"partial\": true"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(export)/bodies").isEmpty)
    }
}
