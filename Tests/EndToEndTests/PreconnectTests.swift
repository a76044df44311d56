import TestSupport
import Testing

@Suite("Larder sends an intercepted host nothing before it evaluates the rules")
struct PreconnectTests {
    @Test(
        "Larder connects to an allowed host during the client's TLS handshake, and the first request uses that connection")
    func connectsToAllowedHosts() throws {
        let stage = try InterceptingStage(
            """
            rules:
              - {name: elsewhere, match: {host: two.test}, deny: {reason: "no"}}
              - {name: stores nothing, match: {host: one.test}, cache: {store: never}}
            """)
        let client = try stage.secure()
        try eventually { stage.origin.connectionCount == 1 }
        client.send(stage.head("/"))
        #expect(try client.readResponse().status == 200)
        #expect(stage.origin.connectionCount == 1)
    }

    @Test(
        "Larder does not connect to a host if a rule can prevent requests to it, neither for a ClientHello nor for such a request",
        arguments: [
            ("match: {host: one.test, method: POST}, deny: {reason: a}", "POST", 403),
            ("match: {method: POST}, deny: {reason: a}", "POST", 403),
            ("match: {host: one.test, path: \"/x\"}, deny: {reason: a}", "GET", 403),
            ("match: {host: one.test}, mode: offline", "GET", 504),
            ("match: {host: one.test}, cache: {policy: stored_only}", "GET", 504),
            ("match: {host: one.test}, request: {set: {Cache-Control: only-if-cached}}", "GET", 504),
        ])
    func staysSilent(rule: String, method: String, status: Int) throws {
        let stage = try InterceptingStage("rules: [{name: r, \(rule)}]")
        let client = try stage.secure()
        client.send(stage.head("/x", method: method, fields: "Content-Length: 0\r\n"))
        #expect(try client.readResponse(to: method).status == status)
        client.close()
        // A connection begun before has reached the origin's socket by now.
        stage.proxy.stop()
        stage.origin.stop()
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("An allowed request to such a host is forwarded")
    func fetchesAllowedRequests() throws {
        let stage = try InterceptingStage("rules: [{name: r, match: {host: one.test, method: POST}, deny: {reason: a}}]")
        let answer = try stage.fetch("/x")
        #expect(answer.status == 200 && stage.origin.connectionCount == 1)
    }
}
