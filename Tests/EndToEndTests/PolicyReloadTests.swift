import EventLoop
import Foundation
import TestSupport
import Testing

@Suite("Policy and reloads")
struct PolicyReloadTests {
    /// The version allows paths with its own parity only, and names itself in the request, in the response, and in what it denies.
    private static func settings(_ version: Int) -> String {
        """
        egress: {default: deny}
        rules:
          - {name: "denied \(version)", match: {path: /both/\(version % 2)/**}, deny: {}}
          - name: "allowed \(version)"
            match: {path: [/\(version % 2)/**, /both/**]}
            allow: {}
            request: {set: {X-Policy: "\(version)"}}
            response: {set: {X-Policy: "\(version)"}}
        """
    }

    @Test("Each of 2,000 requests during 200 reloads is answered under exactly one version of the rules")
    func appliesOneVersion() throws {
        let stage = try Stage(Self.settings(0), loops: 4) { request, connection in
            connection.respond(fields: "Cache-Control: no-store\r\n", body: request["X-Policy"] ?? "none")
        }
        let newest = Guarded(0)
        let (port, head) = (stage.proxy.port, { (path: String) in stage.head("GET", path) })
        let paths = ["/0/a", "/1/a", "/both/0/a", "/both/1/a", "/other"].map { (path: $0, head: head($0)) }
        let seen = Guarded<Set<Int>>([])
        let asked = Guarded(0)
        let workers = Thread {
            _ = try? concurrently(8) { worker in
                let client = try RawClient(port: port)
                for number in 0..<250 {
                    let (path, head) = paths[(worker + number) % paths.count]
                    let oldest = newest.withLock { $0 }
                    client.send(head)
                    let response = try client.readResponse()
                    let last = newest.withLock { $0 } + 1
                    let versions = Self.versions(that: response, follows: path, in: oldest...last)
                    #expect(versions != [], "\(path): \(response.status) \(response.text) in \(oldest)...\(last)")
                    seen.withLock { $0.formUnion(versions) }
                    asked.withLock { $0 += 1 }
                }
            }
        }
        workers.start()
        for version in 1...200 {
            // The requests and the reloads come in turn, however fast each is.
            try eventually { asked.withLock { $0 } >= version * 9 }
            try stage.proxy.reload(Self.settings(version))
            stage.proxy.settle()
            newest.withLock { $0 = version }
        }
        try eventually { asked.withLock { $0 } == 2000 }
        #expect(seen.withLock { $0.count } > 1)
    }

    /// The versions that answer so to a request for the path.
    private static func versions(that response: ReceivedResponse, follows path: String, in range: ClosedRange<Int>) -> [Int] {
        let rule = (try? response.json)?["rule"] as? String  // a 200 has no JSON
        return range.filter { version in
            let denied = path == "/both/\(version % 2)/a"
            let allowed = !denied && (path == "/\(version % 2)/a" || path.hasPrefix("/both/"))
            if allowed { return response.status == 200 && response.text == "\(version)" && response["X-Policy"] == "\(version)" }
            if denied { return response.status == 403 && response.code == "denied_by_rule" && rule == "denied \(version)" }
            return response.status == 403 && response.code == "egress_denied"
        }
    }
}
