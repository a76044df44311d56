import PolicyTools
import ProxyPolicy
import Testing

@Suite("A learned policy")
struct LearnedPolicyTests {
    @Test(
        "A learned policy names scheme, host, port, method and path, intercepts https hosts, and says what each rule was learned from"
    )
    func isReadable() throws {
        let stage = try LearnedStage([
            "GET https://pypi.example/simple/six/", "GET https://pypi.example/simple/six/?format=json",
            "POST http://git.example:8080/app.git/git-upload-pack",
        ])
        #expect(
            stage.text == """
                # Learned by larder policy learn from 3 requests. Every other request is denied.
                # The rules ignore the query of a URL. Read the rules before you use them.
                egress: {default: deny}
                tls:
                  hosts:
                    pypi.example: {connect: intercept}
                rules:
                  # 1 request (200: 1), for example POST http://git.example:8080/app.git/git-upload-pack
                  - name: "git.example:8080 POST"
                    match:
                      scheme: http
                      host: git.example
                      port: 8080
                      method: POST
                      path:
                        - /app.git/git-upload-pack
                    allow: {}
                  # 2 requests (200: 2), for example GET https://pypi.example/simple/six/
                  - name: pypi.example GET
                    match:
                      scheme: https
                      host: pypi.example
                      port: 443
                      method: GET
                      path:
                        - /simple/six/
                    allow: {}

                """)
    }

    @Test("A method is allowed only on the paths where it was requested; HEAD is allowed with GET if both were requested")
    func separatesMethods() throws {
        let stage = try LearnedStage([
            "GET https://h.example/app.git/info/refs", "POST https://h.example/app.git/git-upload-pack",
            "HEAD https://h.example/file",
        ])
        #expect(try stage.allows("POST https://h.example/app.git/git-upload-pack"))
        #expect(try stage.allows("HEAD https://h.example/app.git/info/refs"))
        for denied in ["POST https://h.example/app.git/info/refs", "GET https://h.example/app.git/git-upload-pack"] {
            #expect(try !stage.allows(denied), "\(denied)")
        }
        let reading = try LearnedStage(["GET https://h.example/file"])
        #expect(try !reading.allows("HEAD https://h.example/file"))
    }

    @Test("Three numbered sibling hosts become a pattern, unless their parent is a public suffix")
    func joinsHosts() throws {
        let requests = (1...3).map { "GET https://cdn\($0).cloud.example/app/file\($0)" }
        let joined = try LearnedStage(requests)
        #expect(joined.ruleCount == 1)
        #expect(try joined.allows("GET https://cdn9.cloud.example/app/file1"))
        #expect(try !joined.allows("GET https://cloud.example/app/file1"))
        for apart in [
            try LearnedStage(requests, publicSuffixes: ["cloud.example"]), try LearnedStage(Array(requests.prefix(2))),
            try LearnedStage(["api", "www", "static"].map { "GET https://\($0).cloud.example/app/file1" }),
        ] {
            #expect(try !apart.allows("GET https://cdn9.cloud.example/app/file1"), "\(apart.text)")
        }
    }

    @Test("Hosts with the same paths share a rule")
    func sharesRules() throws {
        let stage = try LearnedStage(["one", "two", "three"].map { "GET https://\($0).example/health/ready" })
        #expect(stage.ruleCount == 1)
        #expect(stage.text.contains("host: [one.example, three.example, two.example]"))
    }

    @Test("--max-rules merges as few rules as needed, and names them")
    func mergesRules() throws {
        let requests = [
            "GET https://a.example/one", "POST https://a.example/two", "GET https://b.example/three", "PUT http://c.example/four",
        ]
        let all = try LearnedStage(requests)
        #expect(all.ruleCount == 4 && !all.text.contains("Widened"))
        let three = try LearnedStage(requests, atMost: 3)
        #expect(three.ruleCount == 3)
        #expect(
            three.text.split(separator: "\n").count {
                $0.contains("# Merged because of --max-rules: allows more than the observed requests.")
            } == 1)
        let one = try LearnedStage(requests, atMost: 1)
        #expect(one.ruleCount == 1)
        for stage in [all, three, one] { for request in requests { #expect(try stage.allows(request)) } }
        #expect(try !one.allows("GET https://a.example/five"))
    }

    @Test("A tunnel gets a rule for its host alone, and does not intercept it")
    func allowsTunnels() throws {
        let stage = try LearnedStage(["CONNECT pinned.example:443", "GET https://open.example/a", "CONNECT pinned.example:8443"])
        #expect(try stage.allows("CONNECT pinned.example:443"))
        #expect(try !stage.allows("GET http://pinned.example:443/"))
        #expect(stage.text.contains("    pinned.example: {connect: tunnel}\n"))
        #expect(stage.text.contains("    \"pinned.example:8443\": {connect: tunnel}\n"))
        #expect(stage.text.contains("tunnel: {ports: [443, 8443]}\n"))
        guard case .allow(let obligations) = try stage.verdict(on: "CONNECT pinned.example:443") else {
            Issue.record("the tunnel is denied")
            return
        }
        #expect(obligations.tunnel == .named)
        let few = try LearnedStage(["CONNECT pinned.example:443", "GET https://open.example/a"], atMost: 1)
        #expect(few.ruleCount == 2 && few.policy.remarks.contains { $0.hasPrefix("tunnels and requests need separate rules") })
    }

    @Test("Private addresses that requests were sent to are allowed one by one, since the policy denies the others")
    func allowsPrivateAddresses() throws {
        var traffic = ObservedTraffic()
        traffic.add(ObservedRequest(method: "GET", url: "http://10.1.2.3:8080/a"), status: 200)
        traffic.add(ObservedRequest(method: "GET", url: "http://h.example/a"), status: 200)
        for address in ["[::1]:80", "8.8.8.8:80", "h.example:80", "10.1.2.3:8080"] { traffic.addAddress(address) }
        let stage = try LearnedStage(traffic)
        let line = "egress:\n  default: deny\n  addresses: {allow: [\"10.1.2.3:8080\", \"[::1]:80\"]}\n"
        #expect(stage.text.contains(line), "\(stage.text)")
        #expect(try LearnedStage(["GET http://h.example/a"]).text.contains("egress: {default: deny}\n"))
    }

    @Test("If the user has policies for hosts, the hosts to intercept are written as comments")
    func keepsPolicies() throws {
        let stage = try LearnedStage(["GET https://h.example/a"])
        let text = stage.policy.text(writesHosts: false)
        #expect(text.contains("\n# tls:\n#   hosts:\n#     h.example: {connect: intercept}\nrules:\n"), "\(text)")
    }

    @Test("No rule is learned from a request that was denied, and requests that no rule can express are counted")
    func leavesOut() throws {
        var traffic = ObservedTraffic()
        traffic.add(ObservedRequest(method: "GET", url: "http://h.example/a"), status: 200)
        traffic.add(ObservedRequest(method: "get", url: "http://h.example/b"), status: 200)
        traffic.add(ObservedRequest(method: "GET", url: "http://*/c"), status: 200)
        traffic.add(ObservedRequest(method: "GET", url: "ftp://h.example/d"), status: 200)
        traffic.addDenied()
        let stage = try LearnedStage(traffic)
        #expect(stage.ruleCount == 1 && stage.paths == ["/a"])
        #expect(stage.policy.remarks.count == 2)
        #expect(stage.text.contains("# Note: no rule can be made for 3 requests"))
    }

    @Test("Different spellings of a host are read as one host")
    func readsHosts() throws {
        let stage = try LearnedStage([
            "GET http://H.example/a", "GET http://h.example.:80/a", "GET http://user:word@h.example/a", "GET http://[::1]:8080/a",
            "GET http://127.0.0.1/a",
        ])
        #expect(!stage.text.contains("word"))
        for line in ["GET http://h.example/a", "GET http://[::1]:8080/a", "GET http://127.0.0.1/a"] {
            #expect(try stage.allows(line), "\(line)")
        }
    }
}
