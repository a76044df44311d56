import ProxyServer
import Testing
import TestSupport

@Suite("C9, V5 to V9, V15, V16: transforms by rules, through the proxy")
struct TransformTests {
    private static let strip = "rules: [{name: strip, transform: {strip_nulls: true}}]"
    private static let text = "{\"a\": null, \"b\": 1.0}"
    private static let made = "{\"b\":1.0}"
    private static let fresh = "Cache-Control: max-age=60\r\n"

    private func stage(
        _ yaml: String = strip, type: String = "application/json", fields: String = fresh + "ETag: \"v1\"\r\n",
        body: [UInt8] = Array(text.utf8), status: String = "200 OK", storePath: String? = ":memory:",
        change: (inout ServerSettings) -> Void = { _ in }
    ) throws -> Stage {
        try Stage(yaml, storePath: storePath, change: change) { request, connection in
            let etag = fields.contains("ETag: \"v1\"") ? "\"v1\"" : ""
            if !etag.isEmpty, request["If-None-Match"] == etag { return connection.respond("304 Not Modified", fields: fields) }
            connection.send(
                "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\n\(fields)Content-Length: \(body.count)\r\n\r\n")
            if request.method == "HEAD" { return true }
            return connection.send(bytes: body)
        }
    }

    // MARK: Each transform

    @Test("V7: nulls are removed from new and from stored responses; the store keeps the original")
    func stripsNulls() throws {
        let stage = try stage()
        for turn in 0..<3 {
            let response = try stage.fetch("/x")
            #expect(response.status == 200 && response.text == Self.made)
            #expect(response["Content-Length"] == "9" && response["Content-Type"] == "application/json")
            #expect(response["Larder-Transform"] == "applied; rule=\"strip\"")
            #expect(response.cacheStatus.contains(turn == 0 ? "fwd=uri-miss; stored" : "hit"))
        }
        #expect(stage.requestCount() == 1)
        try stage.proxy.reload("")
        #expect(try stage.fetch("/x").text == Self.text)
        #expect(stage.requestCount() == 1)
    }

    @Test("C9: a changed rule needs no new fetch, and no old variant is served")
    func changesRule() throws {
        let stage = try stage()
        let first = try stage.fetch("/x")
        try stage.proxy.reload("rules: [{name: other, transform: {json_pointer: {remove: /b, set: {/c: [1, two]}}}}]")
        let second = try stage.fetch("/x")
        #expect(second.text == "{\"a\":null,\"c\":[1,\"two\"]}")
        #expect(first["ETag"] != second["ETag"])
        try stage.proxy.reload(Self.strip)
        let third = try stage.fetch("/x")
        #expect(third.text == Self.made && third["ETag"] == first["ETag"])
        #expect(stage.requestCount() == 1)
    }

    @Test("V9: a property list becomes JSON")
    func propertyList() throws {
        let list = "<plist version='1.0'><dict><key>a</key><integer>7</integer></dict></plist>"
        let stage = try stage(
            "rules: [{name: plist, transform: {plist_to_json: true}}]", type: "application/x-plist", body: Array(list.utf8))
        for _ in 0..<2 {
            let response = try stage.fetch("/x")
            #expect(response.text == "{\"a\":7}" && response["Content-Type"] == "application/json")
        }
    }

    @Test("V8: XML becomes JSON")
    func xml() throws {
        let stage = try stage(
            "rules: [{name: xml, transform: {xml_to_json: true}}]", type: "text/xml; charset=utf-8",
            body: Array("<r a='1'><b>x</b><b>y</b></r>".utf8))
        let response = try stage.fetch("/x")
        #expect(response.text == "{\"r\":{\"@a\":\"1\",\"b\":[\"x\",\"y\"]}}" && response["Content-Type"] == "application/json")
    }

    @Test("A text is converted to the charset of the rule, and its Content-Type says so")
    func charset() throws {
        let stage = try stage(
            "rules: [{name: text, transform: {charset: utf-8}}]", type: "text/plain; charset=\"iso-8859-1\"; format=flowed",
            body: [0x63, 0xE9])
        for _ in 0..<2 {
            let response = try stage.fetch("/x")
            #expect(response.text == "cé" && response["Content-Type"] == "text/plain; format=flowed; charset=utf-8")
        }
    }

    @Test("V5: the body of an error response is transformed too")
    func errors() throws {
        let stage = try stage(fields: "", status: "422 Unprocessable Content")
        let response = try stage.fetch("/x")
        #expect(response.status == 422 && response.text == Self.made)
    }

    @Test("V16: an encoded body is decoded first, and sent without a content coding")
    func codings() throws {
        let fields = Self.fresh + "Content-Encoding: gzip\r\nVary: Accept-Encoding\r\nETag: W/\"z\"\r\n"
        let stage = try stage(fields: fields, body: Gzip.pack(Array(Self.text.utf8)))
        for _ in 0..<2 {
            let response = try stage.fetch("/x")
            #expect(response.text == Self.made && response["Content-Encoding"] == nil)
            #expect(response["Vary"] == "Accept-Encoding")
            #expect(response["ETag"]?.hasPrefix("W/\"z-larder-") == true)
        }
        #expect(stage.requestCount() == 1)
    }

    // MARK: V15

    @Test("Fields about the original bytes are not sent with a transformed body")
    func dropsWhatWasSaid() throws {
        let stage = try stage(
            fields: Self.fresh + "ETag: \"v1\"\r\nLast-Modified: Mon, 06 Jul 2020 10:00:00 GMT\r\nContent-MD5: x\r\n"
                + "Content-Digest: sha-256=:AA==:\r\nRepr-Digest: sha-256=:AA==:\r\nDigest: x\r\nAccept-Ranges: none\r\nX-Other: 1\r\n"
        )
        for _ in 0..<2 {
            let response = try stage.fetch("/x")
            for name in ["Last-Modified", "Content-MD5", "Content-Digest", "Repr-Digest", "Digest"] {
                #expect(response[name] == nil, "\(name)")
            }
            #expect(response["Accept-Ranges"] == "bytes" && response["X-Other"] == "1")
        }
    }

    @Test("no-transform is respected, in the response and in the request", arguments: [true, false])
    func noTransform(isResponse: Bool) throws {
        let stage = try stage(fields: "Cache-Control: max-age=60\(isResponse ? ", no-transform" : "")\r\nETag: \"v1\"\r\n")
        for _ in 0..<2 {
            let response = try stage.fetch("/x", fields: isResponse ? "" : "Cache-Control: no-transform\r\n")
            #expect(response.text == Self.text && response["ETag"] == "\"v1\"")
            let reason = isResponse ? "no_transform" : "request_no_transform"
            #expect(response["Larder-Transform"] == "skipped; reason=\(reason); rule=\"strip\"")
        }
        #expect(stage.requestCount() == 1)
    }

    @Test("Content of another type passes unchanged")
    func skipsOtherTypes() throws {
        let stage = try stage(type: "text/html")
        for _ in 0..<2 {
            let response = try stage.fetch("/x")
            #expect(response.text == Self.text && response["ETag"] == "\"v1\"")
            #expect(response["Larder-Transform"] == "skipped; reason=content_type; rule=\"strip\"")
        }
    }

    @Test(
        "A transformed response has its own entity tag, and If-None-Match with it gets a 304: on a miss, a hit, and a validation")
    func conditional() throws {
        let stage = try stage()
        let first = try stage.fetch("/x")
        let tag = try #require(first["ETag"])
        #expect(tag.hasPrefix("\"v1-larder-") && tag != "\"v1\"")
        let condition = "If-None-Match: \(tag)\r\n"
        let hit = try stage.fetch("/x", fields: condition)
        #expect(hit.status == 304 && hit["ETag"] == tag && hit.body.isEmpty)
        #expect(try stage.fetch("/x", fields: "If-None-Match: \"v1\"\r\n").text == Self.made)
        stage.proxy.pass(seconds: 100)
        let validated = try stage.fetch("/x", fields: condition)
        #expect(validated.status == 304 && validated["ETag"] == tag)
        #expect(OriginRequest(head: stage.origin.requestHeads.last ?? "")["If-None-Match"] == "\"v1\"")
        #expect(stage.requestCount() == 2)
        // The origin never sent this entity tag, so Larder does not forward it.
        let miss = try stage.fetch("/y", fields: condition)
        #expect(miss.status == 304 && miss["ETag"] == tag && miss["Content-Length"] == nil)
        #expect(OriginRequest(head: stage.origin.requestHeads.last ?? "")["If-None-Match"] == nil)
        #expect(try stage.fetch("/y").text == Self.made)
        #expect(stage.requestCount() == 3)
    }

    @Test("If-Modified-Since does not apply to a transformed response, since the date stays when the rule changes")
    func ignoresDates() throws {
        let stage = try stage(fields: Self.fresh + "Last-Modified: Mon, 06 Jul 2020 10:00:00 GMT\r\n")
        for _ in 0..<2 {
            let response = try stage.fetch("/x", fields: "If-Modified-Since: Thu, 31 Dec 2037 10:00:00 GMT\r\n")
            #expect(response.status == 200 && response.text == Self.made)
        }
    }

    @Test("If the origin sends no entity tag, Larder makes one from the transformed content")
    func makesEntityTag() throws {
        let stage = try stage(fields: Self.fresh)
        let tags = try (0..<2).map { _ in try #require(try stage.fetch("/x")["ETag"]) }
        #expect(tags[0] == tags[1] && tags[0].contains("-larder-"))
        #expect(try stage.fetch("/x", fields: "If-None-Match: \(tags[0])\r\n").status == 304)
        let other = try self.stage(fields: Self.fresh, body: Array("{\"b\": 2}".utf8))
        #expect(try other.fetch("/x")["ETag"] != tags[0])
    }

    @Test("Ranges are cut from the transformed body, and never requested from the origin", arguments: [true, false])
    func ranges(isStored: Bool) throws {
        let stage = try stage()
        if isStored { _ = try stage.fetch("/x") }
        let part = try stage.fetch("/x", fields: "Range: bytes=1-3\r\n")
        #expect(part.status == 206 && part.text == "\"b\"" && part["Content-Range"] == "bytes 1-3/9")
        #expect(OriginRequest(head: stage.origin.requestHeads[0])["Range"] == nil)
        let beyond = try stage.fetch("/x", fields: "Range: bytes=15-\r\n")
        #expect(beyond.status == 416 && beyond["Content-Range"] == "bytes */9" && beyond.body.isEmpty)
        let tag = try #require(part["ETag"])
        #expect(try stage.fetch("/x", fields: "Range: bytes=1-3\r\nIf-Range: \(tag)\r\n").status == 206)
        #expect(try stage.fetch("/x", fields: "Range: bytes=1-3\r\nIf-Range: \"v1\"\r\n").text == Self.made)
        let several = try stage.fetch("/x", fields: "Range: bytes=0-0, 8-8\r\n")
        // Several parts with their headers would be longer than the complete body.
        #expect(several.status == 200 && several.text == Self.made)
        #expect(stage.requestCount() == 1)
    }

    @Test("HEAD has the fields of GET; before a response is stored, only those that do not depend on the body")
    func head() throws {
        let stage = try stage()
        let before = try stage.fetch("/x", method: "HEAD")
        #expect(before.status == 200 && before["Content-Length"] == nil && before["Accept-Ranges"] == "bytes")
        let get = try stage.fetch("/x")
        let after = try stage.fetch("/x", method: "HEAD")
        for name in ["ETag", "Content-Type", "Content-Length", "Larder-Transform"] { #expect(after[name] == get[name]) }
        #expect(before["ETag"] == get["ETag"] && before["Content-Type"] == get["Content-Type"])
        #expect(after.body.isEmpty && after["Content-Length"] == "9")
    }

    @Test("A response that must not be stored is transformed each time")
    func notStored() throws {
        let stage = try stage(fields: "Cache-Control: no-store\r\nSet-Cookie: a=b\r\n")
        for _ in 0..<2 {
            let response = try stage.fetch("/x")
            #expect(response.text == Self.made && response["Set-Cookie"] == "a=b")
        }
        #expect(stage.requestCount() == 2)
    }

    @Test("An empty response is not transformed: 204, an empty body, and a single space")
    func nothing() throws {
        for (status, body) in [("204 No Content", ""), ("200 OK", ""), ("200 OK", " ")] {
            let stage = try Stage(Self.strip) { _, connection in
                connection.send("HTTP/1.1 \(status)\r\nContent-Type: application/json\r\n")
                let length = status.hasPrefix("204") ? "" : "Content-Length: \(body.utf8.count)\r\n"
                return connection.send(length + "\r\n" + body)
            }
            let response = try stage.fetch("/x")
            #expect("\(response.status)" == status.prefix(3) && response.text == body)
        }
    }

    // MARK: Paths of a response

    @Test("Large bodies, on the disk and in flight to it, are transformed completely", arguments: [1, 4])
    func large(loops: Int) throws {
        let numbers = (0..<200_000).map { "\($0), null" }.joined(separator: ", ")
        let expected = "[" + (0..<200_000).map { "\($0)" }.joined(separator: ",") + "]"
        let body = "[\(numbers)]"
        let release = Gate()
        let stage = try Stage(Self.strip, loops: loops, storePath: nil) { _, connection in
            release.wait()
            return connection.respond(fields: "Content-Type: application/json\r\n" + Self.fresh, body: body)
        }
        let port = stage.proxy.port
        let head = stage.head("GET", "/large")
        let clients = try (0..<8).map { _ in try RawClient(port: port) }
        for client in clients { client.send(head) }
        release.open()
        for client in clients { #expect(try client.readResponse().text == expected) }
        #expect(try stage.fetch("/large").text == expected)
        #expect(stage.requestCount() == 1)
    }

    @Test("A request that joins a body in flight waits for its end, and gets it transformed", arguments: [100, 400_000])
    func joinsPending(length: Int) throws {
        // The transform applies to one of two host names that share a cache key.
        let rules =
            "rules: [{name: one, match: {host: [a.test, b.test]}, cache: {key: {canonical_host: a.test}}},"
            + " {name: strip, match: {host: b.test}, transform: {strip_nulls: true}}]\nresolve: {a.test: 127.0.0.1, b.test: 127.0.0.1}\n"
        let body = "[null, \"" + String(repeating: "x", count: length) + "\"]"
        let begun = Gate()
        let rest = Gate()
        let stage = try Stage(rules, storePath: nil) { _, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\(Self.fresh)Content-Length: \(body.utf8.count)\r\n\r\n")
            connection.send(String(body.prefix(50)))
            begun.open()
            rest.wait()
            return connection.send(String(body.dropFirst(50)))
        }
        let leader = try stage.client()
        leader.send(stage.head("GET", "/x", host: "a.test"))
        #expect(begun.wait())
        let joined = try stage.client()
        joined.send(stage.head("GET", "/x", host: "b.test"))
        _ = try stage.fetch("/x", method: "OPTIONS", fields: "Max-Forwards: 0\r\n")
        rest.open()
        #expect(try leader.readResponse().text == body)
        #expect(try joined.readResponse().text == "[" + body.dropFirst(7))
        #expect(stage.requestCount() == 1)
    }

    @Test("Stale responses are transformed too, and so are stored responses in offline mode")
    func staleAndOffline() throws {
        let count = Counter()
        let stage = try Stage(Self.strip) { _, connection in
            if count.next() > 1 { return connection.respond("503 Busy") }
            return connection.respond(
                fields: "Content-Type: application/json\r\nCache-Control: max-age=60, stale-if-error=600\r\n", body: Self.text)
        }
        _ = try stage.fetch("/x")
        stage.proxy.pass(seconds: 100)
        let stale = try stage.fetch("/x")
        #expect(stale.text == Self.made && stale.cacheStatus.contains("stale_if_error"))
        try stage.proxy.reload(Self.strip + "\nmode: offline\n")
        #expect(try stage.fetch("/x").text == Self.made)
        #expect(stage.requestCount() == 2)
    }

    @Test("Responses in intercepted tunnels are transformed too: on a miss, on a hit and for a condition")
    func intercepted() throws {
        let rules = "rules: [{name: strip, match: {host: one.test}, transform: {strip_nulls: true}}]"
        let stage = try InterceptingStage(
            rules,
            answer: { _, connection in
                connection.respond(fields: "Content-Type: application/json\r\nETag: \"v1\"\r\n" + Self.fresh, body: Self.text)
            })
        var tag = ""
        for turn in 0..<2 {
            let response = try stage.fetch("/x")
            #expect(response.text == Self.made && response["Larder-Transform"] == "applied; rule=\"strip\"")
            #expect(response.cacheStatus.contains(turn == 0 ? "fwd=uri-miss; stored" : "hit"))
            tag = try #require(response["ETag"])
        }
        #expect(tag != "\"v1\"")
        let condition = try stage.fetch("/x", fields: "If-None-Match: \(tag)\r\n")
        #expect(condition.status == 304 && condition["ETag"] == tag)
        #expect(stage.origin.requestHeads.count == 1)
    }

    /// A slow disk may refuse a long response, which is then requested again.
    /// - Returns: how many requests the origin has received.
    private func fetchUntilStored(_ stage: Stage) throws -> Int {
        try eventually { try stage.fetch("/x")["Cache-Status"]?.contains("; hit") == true }
        return stage.requestCount()
    }

    @Test("A client that leaves during a transform takes nothing away from others")
    func clientLeaves() throws {
        let body = "[" + String(repeating: "null, ", count: 200_000) + "1]"
        let stage = try stage(fields: Self.fresh, body: Array(body.utf8), storePath: nil)
        let requests = try fetchUntilStored(stage)
        // The default timeout of 10 s may be too short for so much work on a busy machine.
        try stage.proxy.reload(
            "rules: [{name: members, transform: {strip_nulls: members, json_pointer: {remove: /0}, timeout: 10m}}]")
        for _ in 0..<5 {
            let client = try stage.client()
            client.send(stage.head("GET", "/x"))
            client.close()
        }
        #expect(try stage.fetch("/x").body.count == 5 * 199_999 + 3)
        #expect(stage.requestCount() == requests)
    }

    // MARK: Failures

    private static let bad = Array("{\"a\": nul".utf8)

    @Test("A failed transform is a 502 with its reason and its rule, each time, and nothing is stored")
    func failsClosed() throws {
        let stage = try stage(body: Self.bad)
        for turn in 1...2 {
            let response = try stage.fetch("/x")
            #expect(response.status == 502 && response.code == "transform_failed" && response.detail == "malformed_json")
            #expect(try response.json["rule"] as? String == "strip")
            #expect(response["Proxy-Status"]?.contains("error=http_protocol_error") == true)
            #expect(response["Larder-Transform"] == "failed; reason=malformed_json; rule=\"strip\"")
            #expect(stage.requestCount() == turn)
        }
    }

    @Test("A stored response whose transform fails is a 502 too, and is served unchanged without the rule")
    func failsOnHit() throws {
        let stage = try stage("", body: Self.bad)
        _ = try stage.fetch("/x")
        try stage.proxy.reload(Self.strip)
        for _ in 0..<2 { #expect(try stage.fetch("/x").detail == "malformed_json") }
        try stage.proxy.reload("")
        #expect(try stage.fetch("/x").body == Self.bad)
        #expect(stage.requestCount() == 1)
    }

    @Test("A failed transform of a stored response is remembered, and later requests fail too")
    func remembersFailure() throws {
        let stage = try stage("", body: Self.bad, storePath: nil)
        let requests = try fetchUntilStored(stage)
        try stage.proxy.reload(Self.strip)
        #expect(stage.proxy.server.transformedBodies.count == 0)
        for _ in 0..<3 {
            #expect(try stage.fetch("/x").detail == "malformed_json")
            #expect(stage.proxy.server.transformedBodies.count == 1)
        }
        #expect(stage.requestCount() == requests)
    }

    @Test("With on_error: pass a response whose transform fails passes unchanged, is stored, and names the failure")
    func passes() throws {
        let stage = try stage("rules: [{name: strip, transform: {strip_nulls: true, on_error: pass}}]", body: Self.bad)
        for _ in 0..<2 {
            let response = try stage.fetch("/x")
            #expect(response.status == 200 && response.body == Self.bad && response["ETag"] == "\"v1\"")
            #expect(response["Larder-Transform"] == "failed; reason=malformed_json; rule=\"strip\"")
        }
        #expect(stage.requestCount() == 1)
    }

    @Test(
        "T35 a body above the limit is refused or passes, whether or not its length was declared",
        arguments: [true, false])
    func tooLong(isTold: Bool) throws {
        let body = "[" + String(repeating: " ", count: 2000) + "]"
        for onError in ["fail", "pass"] {
            let rules = "rules: [{name: strip, transform: {strip_nulls: true, max_body: 1000, on_error: \(onError)}}]"
            let stage = try Stage(rules) { _, connection in
                let fields = "Content-Type: application/json\r\n" + Self.fresh
                if isTold { return connection.respond(fields: fields, body: body) }
                connection.send("HTTP/1.1 200 OK\r\n\(fields)Transfer-Encoding: chunked\r\n\r\n")
                return connection.send("7d2\r\n\(body)\r\n0\r\n\r\n")
            }
            for _ in 0..<2 {
                let response = try stage.fetch("/x")
                if onError == "fail" {
                    #expect(response.status == 502 && response.detail == "body_too_large")
                    #expect(response["Proxy-Status"]?.contains("error=http_response_body_size") == true)
                } else {
                    #expect(response.status == 200 && response.text == body)
                }
            }
        }
    }

    @Test(
        "T35 a gzip bomb, XML entities, and JSON of 100,000 levels are refused within bounds, stored or not",
        arguments: [true, false])
    func bombs(isStored: Bool) throws {
        let laughs = "<!DOCTYPE l [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><l>&b;</l>"
        let rows: [(String, String, String, [UInt8], String)] = [
            (
                "strip_nulls: true", "application/json", "Content-Encoding: gzip\r\n",
                Gzip.pack([UInt8](repeating: 0x20, count: 32 << 20)), "body_too_large"
            ),
            ("xml_to_json: true", "text/xml", "", Array(laughs.utf8), "malformed_xml"),
            ("strip_nulls: true", "application/json", "", [UInt8](repeating: 0x5B, count: 100_000), "too_deep"),
            ("plist_to_json: true", "application/x-plist", "", Array(laughs.utf8), "malformed_plist"),
        ]
        for (words, type, fields, body, reason) in rows {
            let rules = "rules: [{name: n, transform: {\(words)}}]"
            let stage = try stage(isStored ? "" : rules, type: type, fields: Self.fresh + fields, body: body)
            if isStored {
                _ = try stage.fetch("/x")
                try stage.proxy.reload(rules)
            }
            let response = try stage.fetch("/x")
            #expect(response.status == 502 && response.detail == reason, "\(reason)")
        }
    }

    @Test("T35 a transform that takes too long is stopped, and the response says so")
    func timesOut() throws {
        let body = "[" + String(repeating: "{\"a\": [null, 1, \"x\"]}, ", count: 400_000) + "1]"
        let rules = "rules: [{name: slow, transform: {strip_nulls: true, max_body: 64MiB, timeout: 10ms}}]"
        let stage = try stage(rules, fields: Self.fresh, body: Array(body.utf8))
        let response = try stage.fetch("/x")
        #expect(response.status == 502 && response.detail == "timed_out")
        #expect(try response.json["retryable"] as? Bool == true)
    }

    @Test("A validation comes first: a response that it refuses is not transformed, and one that it accepts is")
    func checksFirst() throws {
        let rules = "rules: [{name: both, validate: {wellformed: json, on_failure: block}, transform: {strip_nulls: true}}]"
        #expect(try stage(rules, body: Self.bad).fetch("/x").code == "malformed_json")
        let good = try stage(rules)
        for _ in 0..<2 { #expect(try good.fetch("/x").text == Self.made) }
        #expect(good.requestCount() == 1)
    }

    @Test("The access log has the result of the transform")
    func logs() throws {
        let stage = try stage()
        _ = try stage.fetch("/x")
        _ = try stage.fetch("/x", fields: "Cache-Control: no-transform\r\n")
        let lines = try stage.proxy.logLines()
        #expect(lines.contains { $0.contains("\"transform\":\"applied\"") })
        #expect(lines.contains { $0.contains("\"transform\":\"skipped\",\"transform_reason\":\"request_no_transform\"") })
    }

    @Test("T35 transformed bodies are kept within a memory limit, and made again if there was no room")
    func boundsMemory() throws {
        for limit in [0, 16 << 20] {
            let stage = try stage(change: { $0.proxyLimits.transformedBytes = limit })
            for _ in 0..<3 { #expect(try stage.fetch("/x").text == Self.made) }
            #expect(stage.requestCount() == 1)
        }
    }
}
