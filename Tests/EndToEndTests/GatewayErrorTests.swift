import Foundation
import TestSupport
import Testing
import UpstreamTransport

/// An error that a client can provoke, and the expected response.
struct Provoked: Sendable, CustomTestStringConvertible {
    let code: String
    let status: Int
    let proxyStatus: String
    let yaml: String
    /// PORT stands for the origin's port, and CLOSED for a port without a listener.
    let request: String
    let answer: @Sendable (borrowing OriginConnection) -> Bool

    init(
        _ code: String, _ status: Int, _ proxyStatus: String, _ request: String, yaml: String = "",
        answer: @escaping @Sendable (borrowing OriginConnection) -> Bool = { $0.respond() }
    ) {
        self.code = code
        self.status = status
        self.proxyStatus = proxyStatus
        self.request = request
        self.yaml = yaml
        self.answer = answer
    }

    var testDescription: String { "\(code) \(proxyStatus)" }
}

@Suite("Errors that the proxy generates (RFC 9209, RFC 9457)")
struct GatewayErrorTests {
    private static let table = [
        Provoked("bad_url", 400, "http_request_error", "GET ftp://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n"),
        Provoked(
            "request_malformed", 400, "http_request_error", "GET http://127.0.0.1/ HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n"),
        Provoked("not_a_proxy_request", 400, "http_request_error", "GET / HTTP/1.1\r\nHost: a\r\n"),
        Provoked("denied_by_rule", 403, "http_request_denied", plain, yaml: "rules: [{name: no, deny: {reason: 'because <b>'}}]"),
        Provoked("port_not_allowed", 403, "http_request_denied", "CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: a\r\n"),
        Provoked("host_mismatch", 403, "http_request_denied", plain, yaml: "host_mismatch: deny"),
        Provoked(
            "destination_prohibited", 403, "destination_ip_prohibited", "GET http://169.254.169.254/ HTTP/1.1\r\nHost: a\r\n"),
        Provoked(
            "request_body_too_large", 413, "http_request_error", plain + "Content-Length: 9\r\n",
            yaml: "limits: {request_body: 1B}"),
        Provoked("unknown_expectation", 417, "http_request_error", plain + "Expect: more\r\n"),
        Provoked("unknown_transfer_coding", 501, "http_request_error", plain + "Transfer-Encoding: zip\r\n"),
        Provoked("no_trust_anchors", 500, "proxy_configuration_error", "GET https://127.0.0.1/ HTTP/1.1\r\nHost: a\r\n"),
        Provoked("version_not_supported", 505, "http_request_error", "GET http://127.0.0.1/ HTTP/3.0\r\nHost: a\r\n"),
        Provoked("loop_detected", 508, "proxy_loop_detected", plain + "Via: 1.1 larder\r\n"),
        Provoked(
            "cache_miss_only_if_cached", 504, "destination_unavailable",
            plain.replacing("POST", with: "GET") + "Cache-Control: only-if-cached\r\n"),
        Provoked("dns_error", 502, "dns_error", "GET http://nowhere.onion/ HTTP/1.1\r\nHost: a\r\n"),
        Provoked("connection_refused", 502, "connection_refused", "GET http://127.0.0.1:CLOSED/ HTTP/1.1\r\nHost: a\r\n"),
        Provoked("connection_terminated", 502, "connection_terminated", plain) { _ in false },
        Provoked("response_malformed", 502, "http_protocol_error", plain) { $0.send("nonsense\r\n\r\n") && false },
        Provoked("response_fields_too_large", 502, "http_response_header_section_size", plain) {
            $0.send("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 80_000))\r\n\r\n") && false
        },
        Provoked("unexpected_upgrade", 502, "http_upgrade_failed", plain) {
            $0.send("HTTP/1.1 101 Switching Protocols\r\n\r\n") && false
        },
        Provoked("unexpected_not_modified", 502, "http_protocol_error", plain) {
            $0.send("HTTP/1.1 304 Not Modified\r\n\r\n")
        },
        Provoked("timeout", 504, "http_response_timeout", plain, yaml: "timeouts: {first_byte: 100ms}") { connection in
            connection.pause(milliseconds: 5_000)
            return false
        },
        Provoked(
            "unacceptable_status", 502, "http_protocol_error", plain,
            yaml: "rules: [{name: r, validate: {status: 201, on_failure: block}}]"),
        Provoked(
            "unacceptable_content_type", 502, "http_protocol_error", plain,
            yaml: "rules: [{name: r, validate: {content_type: application/json, on_failure: block}}]"
        ) { $0.respond(fields: "Content-Type: text/html\r\n", body: "x") },
        Provoked(
            "unsupported_coding", 502, "http_response_content_coding", plain,
            yaml: "rules: [{name: r, validate: {wellformed: json, on_failure: block}}]"
        ) { $0.respond(fields: "Content-Encoding: compress\r\nContent-Type: application/json\r\n", body: "x") },
        Provoked(
            "body_too_large", 502, "http_response_body_size", plain,
            yaml: "rules: [{name: r, validate: {wellformed: json, max_body: 2B, oversize: block, on_failure: block}}]"
        ) { $0.respond(fields: "Content-Type: application/json\r\n", body: "[1,2,3]") },
    ]

    private static let plain =
        "POST http://127.0.0.1:PORT/path?secret=1 HTTP/1.1\r\nHost: a\r\nCookie: private\r\nX-Token: private\r\n"

    private func provoke(_ error: Provoked, accept: String = "") throws -> (stage: Stage, response: ReceivedResponse) {
        let stage = try Stage(error.yaml) { _, connection in error.answer(connection) }
        let client = try stage.client()
        let request = error.request.replacing("PORT", with: "\(stage.origin.port)")
            .replacing("CLOSED", with: "\(LoopbackAddress.unusedPort)")
        client.send(request + accept + "\r\n")
        return (stage, try client.readResponse())
    }

    @Test(
        "Every error has its status, its Proxy-Status, problem details with the request's id, and a line in the log",
        arguments: table)
    func tells(error: Provoked) throws {
        let (stage, response) = try provoke(error)
        #expect(response.status == error.status)
        #expect(response["Content-Type"] == "application/problem+json")
        #expect(response["Cache-Control"] == "no-store")
        #expect(response["Proxy-Status"]?.contains("error=\(error.proxyStatus)") == true, "\(response["Proxy-Status"] ?? "")")
        let json = try response.json
        #expect(json["code"] as? String == error.code)
        #expect(json["status"] as? Int == error.status)
        #expect((json["title"] as? String)?.isEmpty == false)
        #expect(json["retryable"] is Bool)
        let id = try #require(json["instance"] as? String)
        #expect(id.count == 16)
        let lines = try stage.proxy.logLines()
        let line = try #require(lines.first { $0.contains("\"id\":\"\(id)\"") })
        #expect(line.contains("\"error\":\"\(error.code)\"") && line.contains("\"status\":\(error.status)"))
    }

    @Test("The body is JSON, HTML or text, by Accept", arguments: table)
    func speaksByAccept(error: Provoked) throws {
        // The Accept field of an unreadable request is ignored.
        guard !["request_malformed", "version_not_supported", "bad_url", "unknown_transfer_coding"].contains(error.code) else {
            return
        }
        for (accept, type) in [
            ("text/html,*/*;q=0.8", "text/html"), ("text/plain", "text/plain"), ("application/json", "application/problem+json"),
        ] {
            let response = try provoke(error, accept: "Accept: \(accept)\r\n").response
            #expect(response.status == error.status)
            #expect(response["Content-Type"]?.hasPrefix(type) == true)
            #expect(response.text.contains(error.code))
        }
    }

    @Test(
        "T41 an error contains nothing of the request except its host, which is escaped",
        arguments: ["text/html", "text/plain", "application/json"])
    func echoesNothing(accept: String) throws {
        for error in Self.table {
            let text = try provoke(error, accept: "Accept: \(accept)\r\n").response.text
            for secret in ["private", "secret", "/path", "Swift", "/work", "Sources/", "<b>"] {
                let isAllowed = secret == "<b>" && accept != "text/html"
                #expect(isAllowed || !text.contains(secret), "\(error.code): \(secret)")
            }
        }
    }

    @Test("An error for HEAD has no body, and the connection stays usable")
    func answersHead() throws {
        let stage = try Stage { _, connection in connection.respond(body: "next") }
        let client = try stage.client()
        client.send("HEAD http://127.0.0.1:\(LoopbackAddress.unusedPort)/ HTTP/1.1\r\nHost: a\r\n\r\n")
        let response = try client.readResponse(to: "HEAD")
        #expect(response.status == 502 && response["Connection"] == nil)
        client.send(stage.head("GET", "/"))
        #expect(try client.readResponse().text == "next")
    }

    @Test("A full upstream queue is a 503 with Retry-After")
    func queueIsFull() throws {
        let release = Gate()
        let asked = Gate()
        let stage = try Stage("upstream: {connections_per_origin: 1}", queueLength: 0) { _, connection in
            asked.open()
            release.wait()
            return connection.respond(body: "late")
        }
        let first = try stage.client()
        first.send(stage.head("GET", "/1"))
        asked.wait()
        let refused = try stage.fetch("/2")
        #expect(refused.status == 503 && refused.code == "queue_full" && refused["Retry-After"] != nil)
        release.open()
        #expect(try first.readResponse().text == "late")
    }

    @Test("With a closed egress gate requests get 504, and stored responses are still served")
    func gateIsClosed() throws {
        let gate = EgressGate()
        let stage = try Stage("tunnel: {ports: any}", change: { $0.transport.gate = gate }) { _, connection in
            connection.respond(fields: "Cache-Control: max-age=60\r\n", body: "stored")
        }
        _ = try stage.fetch("/kept")
        gate.set(.closed)
        #expect(try stage.fetch("/kept").text == "stored")
        #expect(try stage.fetch("/other").code == "offline_miss")
        let client = try stage.client()
        client.send("CONNECT 127.0.0.1:\(stage.origin.port) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().code == "offline_miss")
    }
}
