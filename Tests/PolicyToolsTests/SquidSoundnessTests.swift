import HTTPMessage
import LarderSettings
import PolicyTools
import ProxyPolicy
import TestSupport
import Testing

/// A request to a proxy, and the ACLs that squid would match with it.
private struct PlainRequest {
    let host: String
    let port: UInt16
    let method: String
    let scheme: String
    let path: String
    let client: String

    var isConnect: Bool { method == "CONNECT" }

    static let all: [PlainRequest] = {
        var all: [PlainRequest] = []
        for host in ["h1.test", "x.h1.test", "h2.test", "h3.test"] {
            for client in ["10.1.1.1", "127.0.0.1", "192.168.1.1"] {
                for port in [80, 443, 8080] as [UInt16] {
                    all.append(
                        PlainRequest(host: host, port: port, method: "CONNECT", scheme: "", path: "", client: client))
                    for method in ["GET", "POST"] {
                        for path in ["/", "/a/x", "/b", "/a/../b/c"] {
                            let scheme = port == 443 ? "https" : "http"
                            all.append(
                                PlainRequest(host: host, port: port, method: method, scheme: scheme, path: path, client: client))
                        }
                    }
                }
            }
        }
        return all
    }()

    var asLarderReadsIt: PolicyRequest {
        get throws {
            let isUsual = scheme == "http" && port == 80 || scheme == "https"
            return try PolicyRequest(
                method, isConnect ? "\(host):\(port)" : "\(scheme)://\(host)\(isUsual ? "" : ":\(port)")\(path)",
                from: ClientFacts(address: IPAddress(client)))
        }
    }

    /// - Parameter hour: what the ACL `t` gives, which depends on the time.
    func matches(_ acl: String, at hour: Bool) -> Bool {
        switch acl {
        case "all": true
        case "a": host == "h1.test" || host.hasSuffix(".h1.test")
        case "b": ["x.h1.test", "h2.test"].contains(host)
        case "p": port == 80 || port == 443
        case "q": (8000...9000).contains(port)
        case "m": method == "GET" || isConnect
        case "n": method == "POST"
        case "CONNECT": isConnect
        case "s": scheme == "http"
        case "e": scheme == "https"
        case "u": path.hasPrefix("/a/")
        case "r": scheme == "http" && host == "h2.test" && port == 80 && path.hasPrefix("/b")
        case "c": client.hasPrefix("10.")
        case "localhost": client == "127.0.0.1"
        case "t": hour
        default: false
        }
    }
}

@Suite("What an imported squid.conf allows")
struct SquidSoundnessTests {
    private static let lists = """
        acl a dstdomain .h1.test
        acl b dstdomain x.h1.test h2.test
        acl p port 80 443
        acl q port 8000-9000
        acl m method GET CONNECT
        acl n method POST
        acl s proto HTTP
        acl e proto HTTPS
        acl u urlpath_regex ^/a/
        acl r url_regex ^http://h2\\.test/b
        acl c src 10.0.0.0/8
        acl t time 10:00-12:00
        acl w dstdomain *.h1.test

        """
    private static let names = ["a", "b", "p", "q", "m", "n", "CONNECT", "s", "e", "u", "r", "c", "localhost", "t", "w", "all"]

    private struct Line {
        let allows: Bool
        let words: [(name: String, isNegated: Bool)]

        init(_ generator: inout SeededGenerator) {
            allows = generator.chance(55)
            words = (0...generator.below(3)).map { _ in (generator.one(of: names), generator.chance(30)) }
        }

        var text: String {
            "http_access \(allows ? "allow" : "deny") "
                + words.map { ($0.isNegated ? "!" : "") + $0.name }.joined(separator: " ")
        }
    }

    private func allows(_ lines: [Line], _ request: PlainRequest, at hour: Bool) -> Bool {
        for line in lines where line.words.allSatisfy({ request.matches($0.name, at: hour) != $0.isNegated }) {
            return line.allows
        }
        return lines.last.map { !$0.allows } ?? false
    }

    @Test("The settings have no mistake, and allow nothing that squid denies at some time", arguments: 0..<60 as Range<UInt64>)
    func allowsNoMore(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let lines = (0..<1 + generator.below(6)).map { _ in Line(&generator) }
        let text = lines.map(\.text).joined(separator: "\n")
        let imported = SquidImport(Self.lists + text)
        let layer = SettingsLayer(name: "f", root: try YAMLReader.read(imported.settings))
        guard case .settings(let settings) = SettingsReader.read([layer], trustFiles: TrustFiles()) else {
            Issue.record("mistakes in\n\(imported.settings)")
            return
        }
        for request in PlainRequest.all {
            guard PolicyDecision(try request.asLarderReadsIt, under: settings.policy).isAllowed else { continue }
            // Whoever may open a tunnel to the host may send any request to it.
            let tunnel = PlainRequest(
                host: request.host, port: request.port, method: "CONNECT", scheme: "", path: "", client: request.client)
            for hour in [false, true] {
                let isAllowed = allows(lines, request, at: hour) || request.scheme == "https" && allows(lines, tunnel, at: hour)
                #expect(isAllowed, "\(request) of\n\(text)\n\(imported.settings)")
            }
        }
    }
}
