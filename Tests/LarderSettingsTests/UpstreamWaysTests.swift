import HTTPMessage
import ProxyPolicy
import Testing
import UpstreamTransport

@testable import LarderSettings

@Suite("Ways to the origins, in settings")
struct UpstreamWaysTests {
    private func outcome(_ yaml: String) throws -> SettingsReader.Outcome {
        SettingsReader.read([SettingsLayer(name: "larder.yaml", root: try YAMLReader.read(yaml))])
    }

    private func settings(_ yaml: String) throws -> LarderSettings? {
        if case .settings(let settings) = try outcome(yaml) { settings } else { nil }
    }

    @Test(
        "Every mistake is reported with file, line and column",
        arguments: [
            (
                "upstream:\n  ways:\n    - {name: corp, url: 'ftp://proxy.example:21'}",
                "larder.yaml:3:25: upstream.ways[0].url: expected the address of a proxy"
            ),
            ("upstream: {ways: [{name: corp, url: 'http://proxy.example'}]}", "expected the address of a proxy"),
            (
                "upstream: {ways: [{name: corp, url: 'http://me:pw@proxy.example:1'}]}",
                "larder.yaml:1:37: upstream.ways[0].url: do not put a password here"
            ),
            (
                "upstream: {ways: [{name: corp, url: 'http://a:1', credentials: 'me:pw'}]}",
                "expected `${env:NAME}` or `${file:PATH}`: do not put the secret itself here"
            ),
            (
                "upstream:\n  ways:\n    - {name: a, url: 'http://a:1'}\n    - {name: a, url: 'http://b:1'}",
                "larder.yaml:4:14: upstream.ways: the way `a` occurs twice"
            ),
            (
                "upstream: {ways: [{name: direct, url: 'http://a:1'}]}",
                "larder.yaml:1:26: upstream.ways[0].name: the name `direct`"
            ),
            ("upstream: {ways: [{name: a}]}", "give either url (a proxy) or parents"),
            (
                "upstream: {ways: [{name: a, parents: {members: []}}]}",
                "larder.yaml:1:48: upstream.ways[0].parents.members: give 1 to 64 members"
            ),
            (
                "upstream: {ways: [{name: a, parents: {members: ['socks5://b:1']}}]}",
                "SCHEME:// is one of http://, https://"
            ),
            (
                "upstream: {ways: [{name: a, parents: {members: ['https://b:1', 'https://b:1/']}}]}",
                "larder.yaml:1:64: upstream.ways[0].parents.members[1]: the member https://b:1 occurs twice"
            ),
            ("upstream: {ways: [{name: a, parents: {members: ['https://b:1'], hash: url}}]}", "hash: expected key"),
            (
                "upstream: {way: crop, ways: [{name: corp, url: 'http://a:1'}]}",
                "larder.yaml:1:17: upstream.way: no way has the name `crop`: expected one of direct, corp; did you mean `corp`?"
            ),
            (
                "upstream: {way: corp, proxy: 'http://b:1', ways: [{name: corp, url: 'http://a:1'}]}",
                "set upstream.way or upstream.proxy, not both: write the proxy's address into upstream.ways"
            ),
            (
                "rules:\n  - name: r\n    upstream: corp",
                "larder.yaml:3:15: rules: the rule `r`: no way has the name `corp`: expected one of direct"
            ),
            (
                "rules: [{name: r, upstream: {name: corp, parent_verfies: true}}]",
                "rules[0].upstream: unknown key `parent_verfies`; did you mean `parent_verifies`?"
            ),
            ("rules: [{name: r, deny: {}, upstream: direct}]", "a rule with `deny` cannot have other actions"),
        ])
    func problems(yaml: String, message: String) throws {
        guard case .problems(let problems) = try outcome(yaml) else {
            Issue.record("accepted: \(yaml)")
            return
        }
        #expect(problems.contains { $0.description.contains(message) }, "\(problems.map(\.description))")
        #expect(!problems.contains { $0.description.contains("pw") })
    }

    @Test("The usual way is the named one, the single proxy, or direct")
    func usualWay() throws {
        let yaml = "ways: [{name: corp, url: 'socks5h://a.example:1080'}, {name: farm, parents: {members: ['https://b:1']}}]"
        #expect(try settings("upstream: {\(yaml)}")?.transport.wayName == "direct")
        let corp = try #require(try settings("upstream: {way: corp, \(yaml)}"))
        #expect(corp.transport.wayName == "corp")
        #expect(corp.transport.proxy?.url == "socks5h://a.example:1080")
        #expect(corp.upstream.usualWaySummary == "corp (socks5h://a.example:1080)")
        let farm = try #require(try settings("upstream: {way: farm, \(yaml)}"))
        #expect(farm.transport.parents?.members.map(\.url) == ["https://b:1"])
        #expect(farm.upstream.usualWaySummary == "farm (1 parent)")
        let single = try #require(try settings("upstream: {proxy: 'http://me:pw@a.example:3128'}"))
        #expect(single.transport.wayName == "proxy")
        #expect(single.transport.proxy?.url == "http://a.example:3128")
        #expect(single.upstream.usualWaySummary == "proxy (http://(redacted)@a.example:3128)")
    }

    @Test("The last matching rule chooses the way")
    func rules() throws {
        let settings = try #require(
            try settings(
                """
                upstream: {ways: [{name: corp, url: 'http://a:1'}]}
                rules:
                  - {name: all, upstream: {name: corp, parent_verifies: true}}
                  - {name: near, match: {host: near.example}, upstream: direct}
                """))
        func choice(_ host: String) -> UpstreamChoice? {
            let uri = Array("http://\(host)/".utf8)
            var matched = MatchedRules()
            guard let request = RequestHead(uri: uri.span, method: .get) else { return nil }
            guard case .allow(let obligations) = settings.policy.match(request, into: &matched), obligations.routes else {
                return nil
            }
            return matched.upstream
        }
        #expect(choice("near.example")?.name == "direct")
        #expect(choice("far.example")?.name == "corp")
        #expect(choice("far.example")?.isVerifiedByParent == true)
    }

    @Test("Credentials are read from the file or the variable that the way names")
    func credentials() throws {
        let yaml = "upstream: {ways: [{name: corp, url: 'http://a:1', credentials: '${env:CORP}'}]}"
        func load(_ environment: [String: String]) throws -> [String] {
            var upstream = try #require(try settings(yaml)).upstream
            let place = SettingsPlace(line: 1, column: 1)
            let origins = ["upstream.ways": SettingsReader.Origin(layer: "larder.yaml", place: place)]
            let problems = UpstreamWayLoading.load(&upstream, environment, origins: origins)
            if problems.isEmpty, case .proxy(let proxy) = upstream.allWays[1].kind {
                return [proxy.authorization.map { String(decoding: $0, as: UTF8.self) } ?? ""]
            }
            return problems.map(\.description)
        }
        #expect(try load(["CORP": "Aladdin:open sesame"]) == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="])
        #expect(try load([:])[0].hasPrefix("larder.yaml:1:64: upstream.ways: cannot read ${env:CORP}"))
        #expect(try load(["CORP": "secret"])[0].contains("${env:CORP} must contain `user:password`"))
    }
}
