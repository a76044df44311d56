import TestSupport
import Testing

@Suite("Checking egress settings")
struct EgressCheckTests {
    @Test("config check rejects rules that need an interception that is not configured, with line, column and both remedies")
    func rejects() throws {
        let folder = try TemporaryFolder()
        let rule = "  - name: one path\n    match: {host: a.example, path: /x}\n    allow: {}\n"
        let file = try folder.write("egress: {default: deny}\nrules:\n\(rule)", to: "larder.yaml")
        let checked = try CommandLineTests.larder("config", "check", "-c", file)
        #expect(checked.code == 2)
        #expect(
            checked.talk
                == "\(file):4:30: rules[0].match: the rule `one path` looks at requests, but Larder does not intercept a.example, so Larder would refuse tunnels to a.example. Write `tls: {hosts: {a.example: {connect: intercept}}}`; or remove path, method and "
                + "query; or, for http only, write `scheme: http`\n")
        _ = try folder.write(
            "egress: {default: deny}\nrules:\n\(rule)  - {name: all, match: {host: a.example}, allow: {}}\n", to: "larder.yaml")
        let both = try CommandLineTests.larder("config", "check", "-c", file)
        #expect(both.code == 0 && both.output == "\(file): good, 2 rules\n")
        #expect(both.talk.hasPrefix("larder: warning: \(file):4:30: the rule `one path` inspects requests, but the rule `all` "))
    }
}
