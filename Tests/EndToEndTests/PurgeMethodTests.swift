import HTTPMessage
import TestSupport
import Testing

@Suite("The PURGE method")
struct PurgeMethodTests {
    private func stage(_ yaml: String) throws -> Stage {
        try Stage(yaml, loops: 4, storePath: nil) { request, connection in
            let language = request["Accept-Language"] ?? "none"
            guard connection.readBody(of: request) != nil else { return false }
            return connection.respond(fields: "Cache-Control: max-age=60\r\nVary: Accept-Language\r\n", body: language)
        }
    }

    @Test("A permitted client purges a URL with all its variants and gets their number; the origin receives nothing")
    func purges() throws {
        let stage = try stage("clients: {purge: [127.0.0.0/8]}")
        for language in ["de", "fr"] { _ = try stage.fetch("/x", fields: "Accept-Language: \(language)\r\n") }
        _ = try stage.fetch("/y")
        let purged = try stage.fetch("/x", method: "PURGE")
        #expect(purged.status == 200 && purged.text == "purged 2\n")
        #expect(try stage.fetch("/x", method: "PURGE").text == "purged 0\n")
        #expect(stage.requestCount() == 3)
        #expect(try stage.fetch("/x", fields: "Accept-Language: de\r\n").cacheStatus.contains("fwd="))
        #expect(try stage.fetch("/y").cacheStatus.contains("hit"))
    }

    @Test("PURGE also removes responses keyed by their content or by a rule's key, and leaves other URLs stored")
    func purgesAllKeys() throws {
        let stage = try stage(
            """
            clients: {purge: [127.0.0.0/8]}
            rules: [{name: key, match: {method: [GET, QUERY]}, cache: {key: {body: QUERY, drop_query: [utm]}}}]
            """)
        for (path, method, body) in [("/x?utm=1", "GET", ""), ("/x", "QUERY", "a"), ("/x", "QUERY", "b"), ("/y", "QUERY", "a")] {
            _ = try stage.fetch(path, method: method, body: body)
        }
        #expect(try stage.fetch("/x?utm=2", method: "PURGE").text == "purged 3\n")
        #expect(try stage.fetch("/x").cacheStatus.contains("fwd="))
        #expect(try stage.fetch("/x", method: "QUERY", body: "a").cacheStatus.contains("fwd="))
        #expect(try stage.fetch("/y", method: "QUERY", body: "a").cacheStatus.contains("hit"))
    }

    @Test(
        "PURGE is refused where no client may purge, and to clients that may not",
        arguments: [("", 405), ("clients: {purge: [10.0.0.0/8]}", 403)])
    func refuses(row: (yaml: String, status: Int)) throws {
        let stage = try stage(row.yaml)
        _ = try stage.fetch("/x")
        let refused = try stage.fetch("/x", method: "PURGE")
        #expect(refused.status == row.status)
        #expect((refused["Allow"] != nil) == (row.status == 405))
        #expect(try stage.fetch("/x").cacheStatus.contains("hit"))
        #expect(stage.requestCount() == 1)
    }

    @Test("Rules apply to PURGE too")
    func obeysRules() throws {
        let stage = try stage(
            "clients: {purge: [127.0.0.1/32]}\nrules:\n  - name: no\n    match: {method: PURGE}\n    deny: {reason: no}\n")
        #expect(try stage.fetch("/x", method: "PURGE").code == "denied_by_rule")
    }
}
