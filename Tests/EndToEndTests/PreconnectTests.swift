import TestSupport
import Testing

@Suite("Nothing is sent to an intercepted host before the rules are evaluated")
struct PreconnectTests {
    @Test(
        "An allowed host is connected to while the client is still occupied with TLS, and its first request uses that connection")
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
        "A host for which a rule can keep a request back is connected to by no ClientHello, and by no request that is kept back",
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
        // Whatever had been begun before has come to the origin's socket by then.
        stage.proxy.stop()
        stage.origin.stop()
        #expect(stage.origin.connectionCount == 0)
    }

    @Test("A request that the rules allow goes to such a host all the same")
    func fetchesAllowedRequests() throws {
        let stage = try InterceptingStage("rules: [{name: r, match: {host: one.test, method: POST}, deny: {reason: a}}]")
        let answer = try stage.fetch("/x")
        #expect(answer.status == 200 && stage.origin.connectionCount == 1)
    }
}
