import Testing
import TestSupport

@Suite("T35 Validation of bodies by rules")
struct BodyCheckTests {
    private func rules(_ words: String) -> String { "rules: [{name: json, validate: {wellformed: json, \(words)}}]" }

    private func stage(_ words: String, coding: String, body: [UInt8]) throws -> Stage {
        try Stage(rules(words)) { _, connection in
            connection.send(
                "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Type: application/json\r\nContent-Encoding: \(coding)\r\n"
                    + "Content-Length: \(body.count)\r\n\r\n")
            return connection.send(bytes: body)
        }
    }

    @Test("T35 a body that decompresses to far more than its length is stopped at the limit", arguments: ["block", "pass"])
    func stopsBombs(oversize: String) throws {
        let bomb = Gzip.pack([UInt8](repeating: 0x20, count: 32 << 20))
        let stage = try stage("on_failure: block, oversize: \(oversize), max_body: 1MiB", coding: "gzip", body: bomb)
        for turn in 1...2 {
            let response = try stage.fetch("/bomb")
            if oversize == "block" {
                #expect(response.status == 502 && response.code == "body_too_large")
            } else {
                #expect(response.status == 200 && response.body == bomb)
            }
            #expect(stage.requestCount() == turn)
        }
    }

    @Test("Valid compressed JSON passes unchanged and is stored", arguments: ["gzip", "x-gzip"])
    func readsCodings(coding: String) throws {
        let body = Gzip.pack(Array("{\"a\": [1, 2, 3]}".utf8))
        let stage = try stage("on_failure: block", coding: coding, body: body)
        for _ in 0..<2 { #expect(try stage.fetch("/good").body == body) }
        #expect(stage.requestCount() == 1)
    }

    @Test("Invalid JSON in gzip is refused")
    func seesThroughCodings() throws {
        let stage = try stage("on_failure: block", coding: "gzip", body: Gzip.pack(Array("{\"a\": [1, 2".utf8)))
        let response = try stage.fetch("/bad")
        #expect(response.status == 502 && response.code == "malformed_json")
    }

    @Test(
        "A body with an unsupported or invalid coding is refused",
        arguments: ["compress", "dcb", "gzip, compress", "gzip, gzip, gzip, gzip, gzip"])
    func refusesCodings(coding: String) throws {
        let stage = try stage("on_failure: block", coding: coding, body: Array("[]".utf8))
        let response = try stage.fetch("/other")
        #expect(response.status == 502)
        #expect(["unsupported_coding", "malformed_coding"].contains(response.code))
    }

    @Test(
        "An unsupported coding follows on_failure, even if the body is also too large",
        arguments: ["block", "annotate", "pass"], [100, 3_000_000])
    func judgesCodingFirst(onFailure: String, length: Int) throws {
        let body = PatternedBody(length: length).bytes(0..<length)
        let stage = try stage("on_failure: \(onFailure), oversize: pass, max_body: 1MiB", coding: "compress", body: body)
        let response = try stage.fetch("/coded")
        if onFailure == "block" {
            #expect(response.status == 502 && response.code == "unsupported_coding")
        } else {
            #expect(response.status == 200 && response.body == body)
            #expect(response["Larder-Validation"] == (onFailure == "annotate" ? "unsupported_coding" : nil))
        }
        _ = try stage.fetch("/coded")
        #expect(stage.requestCount() == 2)
    }

    @Test("No byte of a blocked body appears in the next response on the connection")
    func forgetsBlocked() throws {
        let stage = try Stage(rules("on_failure: block")) { request, connection in
            connection.respond(fields: "Content-Type: application/json\r\n", body: request.target == "/bad" ? "[1, 2" : "[3]")
        }
        let client = try stage.client()
        for _ in 0..<3 {
            client.send(stage.head("GET", "/bad"))
            #expect(try client.readResponse().code == "malformed_json")
            client.send(stage.head("GET", "/good"))
            #expect(try client.readResponse().text == "[3]")
        }
    }

    @Test("No byte of a body under validation remains after the client's own body ended early")
    func forgetsCut() throws {
        let begun = Gate()
        let stage = try Stage(rules("on_failure: block")) { request, connection in
            guard request.method == "POST" else { return connection.respond(body: "[3]") }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[1, 2")
            begun.open()
            _ = connection.readToEnd()
            return false
        }
        let client = try stage.client()
        client.send(stage.head("POST", "/begun", fields: "Content-Length: 10\r\n") + "half")
        #expect(begun.wait())
        #expect(try stage.fetch("/good").text == "[3]")
        client.endSending()
        #expect(try client.readResponse().code == "request_malformed")
        #expect(try stage.fetch("/good").text == "[3]")
        #expect(try stage.fetch("/good").text == "[3]")
    }

    @Test(
        "A body above the limit is blocked or passes, as the rule says", arguments: ["block", "pass"],
        [900_000, 1_100_000, 12_000_000])
    func judgesOversize(oversize: String, length: Int) throws {
        let body = Array("[".utf8) + [UInt8](repeating: 0x20, count: length - 2) + Array("]".utf8)
        let stage = try stage("on_failure: block, oversize: \(oversize), max_body: 1MiB", coding: "identity", body: body)
        let response = try stage.fetch("/large")
        if length > 1 << 20, oversize == "block" {
            #expect(response.status == 502 && response.code == "body_too_large")
        } else {
            #expect(response.status == 200 && response.body == body)
        }
    }

    @Test("Bodies under validation share a memory limit; a single body may exceed it, and its memory is freed afterwards")
    func boundsMemory() throws {
        let rest = Gate()
        let large = String(repeating: " ", count: 3 << 20)
        let stage = try Stage("{\(rules("on_failure: block")), limits: {checked_bodies: 1MiB}}") { request, connection in
            let fields = "Cache-Control: no-store\r\nContent-Type: application/json\r\n"
            guard request.target == "/large" else {
                return connection.respond(fields: fields, body: "[" + large.prefix(600_000) + "]")
            }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: \(large.utf8.count + 2)\r\n\(fields)\r\n[\(large)")
            rest.wait()
            return connection.send("]")
        }
        var first = try stage.client()
        first.send(stage.head("GET", "/large"))
        // The second request is refused once enough of the large body has arrived.
        var refused: ReceivedResponse?
        for _ in 0..<500 where refused == nil {
            if first.hasInput(withinMilliseconds: 0) {
                // The large body was refused, because the other one left too little memory. Send its request again.
                #expect(try first.readResponse().status == 503)
                first = try stage.client()
                first.send(stage.head("GET", "/large"))
            }
            let response = try stage.fetch("/second")
            if response.status != 200 { refused = response }
        }
        #expect(refused?.status == 503 && refused?.code == "check_queue_full")
        rest.open()
        #expect(try first.readResponse().body.count == large.utf8.count + 2)
        #expect(try stage.fetch("/second").status == 200)
    }

    @Test("A response that ends early during validation is a 502, not a short body")
    func breaksOff() throws {
        let stage = try Stage(rules("on_failure: pass")) { _, connection in
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n[1,2]")
            return false
        }
        let response = try stage.fetch("/cut")
        #expect(response.status == 502 && response.code == "response_incomplete")
    }
}
