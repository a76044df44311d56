import Foundation
import TestSupport
import Testing

@testable import LarderCLI

@Suite("larder policy")
struct PolicyCommandTests {
    private static let policy = """
        egress: {default: deny}
        rules:
          - name: the API
            match: {host: api.example, method: [GET, HEAD], path: /v1/**}
            allow: {}
            request: {set: {X-Team: blue}}
          - name: no secrets
            match: {host: api.example, path: /v1/secrets/**}
            deny: {reason: these are secret}

        """

    private static func tests(_ verdict: String) -> String {
        """
        tests:
          - request: GET https://api.example/v1/a
            verdict: \(verdict)
            edits: {X-Team: blue, X-Other: ~}

        """
    }

    /// The same for http only: without interception, Larder accepts no other rules that look at requests.
    private static let plainPolicy = policy.replacingOccurrences(of: "match: {", with: "match: {scheme: http, ")

    private static func plainTests(_ verdict: String) -> String {
        tests(verdict).replacingOccurrences(of: "https:", with: "http:")
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func json(_ outcome: CommandLineTests.Outcome) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }

    @Test("eval shows the verdict with its rules, and exits with 0 or 4")
    func evaluates() throws {
        let file = try folder.write(Self.plainPolicy, to: "a.yaml")
        func eval(_ words: String...) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(["policy", "eval"] + words + ["-c", file])
        }
        let incomplete = try eval("http://api.example/v1/a")
        #expect(incomplete.code == 2 && incomplete.talk.contains("Give the method and the URL, for example: "), "\(incomplete)")
        let allowed = try eval("GET", "http://api.example/v1/a")
        #expect(allowed.code == 0, "\(allowed)")
        #expect(
            allowed.output == """
                GET http://api.example/v1/a
                verdict: allowed by rule `the API`
                rules: `the API`

                """)
        let denied = try json(try eval("GET", "http://api.example/v1/secrets/b", "-o", "json"))
        #expect(denied["verdict"] as? String == "denied_by_rule" && denied["rule"] as? String == "no secrets")
        #expect(denied["reason"] as? String == "these are secret")
        let unlisted = try eval("POST", "http://api.example/v1/a")
        #expect(unlisted.code == 4)
        #expect(
            unlisted.output.contains(
                "suggestion: {\"match\":{\"host\":\"api.example\",\"method\":\"POST\",\"path\":\"/v1/a\"},\"allow\":{}}\n"))
        let ambiguous = try eval("GET", "http://api.example/v1/../x")
        #expect(ambiguous.code == 4 && ambiguous.output.contains("code: ambiguous_path\n"))
        #expect(ambiguous.output.contains("reading: /v1/../x (allowed)\nreading: /x (denied)\n"), "\(ambiguous.output)")
        #expect(try eval("GET", "api.example").code == 2)
        let purge = try eval("PURGE", "http://api.example/v1/a")
        #expect(purge.code == 4 && purge.output.contains("code: purge_off\n"), "\(purge)")
    }

    @Test("eval knows the client that its options name, and no other")
    func evaluatesForClients() throws {
        let file = try folder.write(
            "egress: {default: deny}\nrules: [{name: team, match: {client: 10.0.0.0/8, user: alice}, allow: {}}]\n", to: "a.yaml")
        func code(_ words: String...) throws -> Int32 {
            try CommandLineTests.larder(["policy", "eval", "GET", "http://h.example/", "-c", file] + words).code
        }
        #expect(try code("--client", "10.1.2.3", "--user", "alice") == 0)
        #expect(try code("--client", "10.1.2.3") == 4)
        #expect(try code("--client", "10.1.2.3", "--user", "bob") == 4)
        #expect(try code("--user", "alice") == 4)
        #expect(try code("--client", "10.0.0.0/8") == 2)
    }

    @Test("eval, test and diff reject the settings that check rejects, with its messages")
    func rejects() throws {
        let failing = try folder.write(Self.plainPolicy + Self.plainTests("deny"), to: "failing.yaml")
        let tunnelled = try folder.write(Self.policy, to: "tunnelled.yaml")
        let good = try folder.write(Self.plainPolicy, to: "good.yaml")
        for (file, commands) in [(tunnelled, ["eval", "diff", "test"]), (failing, ["eval", "diff"])] {
            let check = try CommandLineTests.larder("policy", "check", file)
            #expect(check.code == 2 && !check.talk.isEmpty)
            for command in commands {
                let words =
                    ["eval": ["GET", "http://h.example/", "-c", file], "diff": [good, file], "test": [file]][command] ?? []
                let outcome = try CommandLineTests.larder(["policy", command] + words)
                #expect(outcome.code == 2 && outcome.talk == check.talk && outcome.output.isEmpty, "\(command): \(outcome)")
            }
        }
    }

    @Test("check warns of a rule without effect, and rejects a file whose tests fail")
    func checks() throws {
        let rules =
            Self.plainPolicy
            + "  - {name: twice, match: {scheme: http, host: api.example, method: GET, path: /v1/x}, allow: {}}\n"
        let file = try folder.write(rules + Self.plainTests("allow"), to: "a.yaml")
        for command in [["policy", "check", file], ["config", "check", "-c", file]] {
            let outcome = try CommandLineTests.larder(command)
            #expect(outcome.code == 0 && outcome.output == "\(file): good, 3 rules, 1 test passes\n", "\(outcome)")
            #expect(
                outcome.talk.contains("the rule `twice` (line 10) has no effect: the rule `the API` (line 3) allows"),
                "\(outcome)")
        }
        let bad = try folder.write(Self.plainPolicy + Self.plainTests("deny"), to: "b.yaml")
        let outcome = try CommandLineTests.larder("policy", "check", bad)
        #expect(outcome.code == 2 && outcome.output.isEmpty)
        #expect(
            outcome.talk
                == "\(bad):11:5: tests: GET http://api.example/v1/a: expected deny, but the request is allowed by rule `the API`\n"
        )
    }

    @Test("test runs the tests, writes JUnit's XML, and exits with 3 if a test fails")
    func tests() throws {
        let file = try folder.write(Self.plainPolicy + Self.plainTests("deny"), to: "a.yaml")
        let failed = try CommandLineTests.larder("policy", "test", file, "--junit", "\(folder.path)/junit.xml")
        #expect(failed.code == 3)
        #expect(
            failed.output == """
                FAILED \(file):11: GET http://api.example/v1/a: expected deny, but the request is allowed by rule `the API`
                1 test, 1 failed; tests match 1 of 2 rules
                no test matches the rule `no secrets` (line 7)

                """)
        let report = try String(contentsOfFile: "\(folder.path)/junit.xml", encoding: .utf8)
        #expect(report.contains("failures=\"1\""))
        let good = try folder.write(Self.plainPolicy + Self.plainTests("allow"), to: "b.yaml")
        let passed = try CommandLineTests.larder("policy", "test", good)
        #expect(
            passed.code == 0
                && passed.output.hasPrefix("passed \(good):11: GET http://api.example/v1/a: allowed by rule `the API`\n"))
    }

    @Test("diff exits with 6 if the new policy allows more, and with 0 if it only denies more")
    func compares() throws {
        let old = try folder.write(Self.plainPolicy, to: "a.yaml")
        let new = try folder.write(
            Self.plainPolicy.replacingOccurrences(of: "[GET, HEAD]", with: "[GET, HEAD, PUT]"), to: "b.yaml")
        let opens = try CommandLineTests.larder("policy", "diff", old, new)
        #expect(opens.code == 6)
        #expect(
            opens.output
                == "opens PUT http://api.example/v1/ (before: no rule allows the request; now: rule `the API` allows the request)\n"
        )
        let closes = try CommandLineTests.larder("policy", "diff", new, old, "-o", "json")
        #expect(closes.code == 0)
        let object = try json(closes)
        #expect(object["opens"] as? Bool == false && (object["changes"] as? [Any])?.count == 1)
        let same = try CommandLineTests.larder("policy", "diff", old, old)
        #expect(same.code == 0 && same.output == "both policies allow the same requests\n")
    }

    @Test("import prints settings that are valid, and lists the other lines")
    func imports() throws {
        let squid = try folder.write(
            "acl sites dstdomain .example.com\nhttp_access allow sites\nhttp_access deny all\ncache_mem 8 MB\n", to: "squid.conf")
        let imported = try CommandLineTests.larder("policy", "import", squid)
        #expect(imported.code == 6 && imported.talk == "\(squid):4: `cache_mem` is not imported\n")
        let settings = try folder.write(imported.output, to: "a.yaml")
        #expect(try CommandLineTests.larder("policy", "check", settings).code == 0)
        let methods = try folder.write("acl m method get CONNECT\nhttp_access allow m\nhttp_access deny all\n", to: "squid.conf")
        let narrow = try folder.write(try CommandLineTests.larder("policy", "import", methods).output, to: "b.yaml")
        #expect(try CommandLineTests.larder("policy", "check", narrow).code == 0)
        #expect(try CommandLineTests.larder("policy", "eval", "GET", "http://www.example.com/", "-c", settings).code == 0)
        #expect(try CommandLineTests.larder("policy", "eval", "GET", "http://www.example.org/", "-c", settings).code == 4)
    }

    @Test(
        "serve does not start with settings whose tests fail; a reload rejects them, and prints what other settings newly allow and deny"
    )
    func servesTested() throws {
        func tests(_ path: String, _ verdict: String) -> String {
            "tests:\n  - {request: GET http://api.example\(path), verdict: \(verdict)}\n"
        }
        let failing = Self.plainPolicy + tests("/v1/a", "deny")
        let file = try folder.write(failing, to: "bad.yaml")
        let refused = try CommandLineTests.larder("serve", "-c", file, "--listen", "127.0.0.1:0", "--store", ":memory:")
        #expect(refused.code == 2 && refused.talk.contains("bad.yaml:11:5: tests: GET http://api.example/v1/a: expected deny"))

        let served = try ServeTests.Served(Self.plainPolicy + tests("/v1/a", "allow"))
        _ = try served.ports()
        func reload() throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder("reload", "--set", "admin.socket=\(served.folder.path)/admin.sock")
        }
        _ = try served.folder.write(failing, to: "larder.yaml")
        let rejected = try reload()
        #expect(rejected.code == 2 && rejected.talk.contains("expected deny, but the request is allowed by rule `the API`"))
        #expect(rejected.talk.hasSuffix("the active settings are unchanged\n"))
        let next = Self.plainPolicy.replacingOccurrences(of: "/v1/**", with: "/v2/**")
        _ = try served.folder.write(next + tests("/v1/a", "deny"), to: "larder.yaml")
        let accepted = try reload()
        #expect(accepted.code == 0, "\(accepted)")
        #expect(
            accepted.output == """
                the settings were reloaded
                closes GET http://api.example/v1/ (before: rule `the API` allows the request; now: no rule allows the request)
                opens GET http://api.example/v2/ (before: no rule allows the request; now: rule `the API` allows the request)

                """)
    }
}
