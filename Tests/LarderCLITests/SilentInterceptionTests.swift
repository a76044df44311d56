import Foundation
import TestSupport
import Testing

@Suite(
    "Nothing is sent before the rules are evaluated: neither a DNS query nor a connection",
    .enabled(if: NetworkNamespace.canBeMade, "needs to make network namespaces"))
struct SilentInterceptionTests {
    /// A network namespace with only a name server and an https origin on 127.0.0.1.
    private final class Stage {
        let network: NetworkNamespace
        let names: NameServer
        let origin: ScriptedOrigin
        let folder: TemporaryFolder

        init() throws {
            let pinned = try PinnedStage()
            folder = pinned.folder
            network = try NetworkNamespace()
            // With only loopback addresses, the C library does not query IPv4 addresses.
            try network.ip("link set lo up", "addr add 10.9.0.1/24 dev lo")
            let identity = pinned.authority.identity(names: "DNS:allowed.test,DNS:payments.test")
            (names, origin) = try network.inside {
                let origin = ScriptedOrigin(port: 443, identity: identity) { connection in
                    while connection.readHead() != nil { connection.respond(fields: "", body: "live") }
                }
                return (try NameServer(giving: [127, 0, 0, 1]), origin)
            }
            _ = try folder.write("nameserver 127.0.0.1\n", to: "resolv.conf")
            _ = try pinned.settings(
                """
                tls: {default: {anchors: {bundle: root.pem}}}
                rules:
                  - {name: payments, match: {host: payments.test, method: POST}, deny: {reason: never}}
                  - {name: path, match: {host: path.test, path: "/admin*"}, deny: {reason: never}}
                  - {name: closed, match: {host: closed.test}, mode: offline}
                  - {name: stored, match: {host: stored.test}, cache: {policy: stored_only}}
                """)
        }

        deinit {
            origin.stop()
            names.stop()
        }

        /// Runs `larder run` with these options on a script in that namespace, and waits until both have ended.
        func run(_ options: String, _ script: String) throws -> CommandLineTests.Outcome {
            let variables = ["HOME": folder.path, "TMPDIR": folder.path]
            _ = try folder.write("status() { curl -sS -o body -w '%{http_code} ' \"$@\"; }\ncd $HOME\n\(script)\n", to: "script")
            return try network.inside {
                try CommandLineTests.shell(
                    """
                    exec unshare --mount sh -c 'mount --bind $HOME/resolv.conf /etc/resolv.conf
                    exec $larder run -c $HOME/larder.yaml \(options) -- sh $HOME/script'
                    """, variables)
            }
        }
    }

    @Test("A request that a rule or the mode blocks reaches neither the name server nor the origin")
    func staysSilent() throws {
        let stage = try Stage()
        let kept = try stage.run(
            "",
            "status -X POST https://payments.test; status https://path.test/admin; status https://closed.test; status https://stored.test"
        )
        #expect(kept.output == "403 403 504 504 ", "\(kept)")
        let hidden = try stage.run(
            "--summary",
            """
            for host in payments.test path.test stored.test; do
                openssl s_client -quiet -no_ign_eof -alpn imap -proxy ${http_proxy#http://} -connect $host:443 -servername $host < /dev/null
            done; true
            """)
        #expect(hidden.talk.contains("(hidden_from_rules): CONNECT payments.test:443\n"), "\(hidden)")
        #expect(hidden.talk.contains(", 3 denied\n"))
        let offline = try stage.run("--offline", "status https://allowed.test")
        #expect(offline.output == "504 ", "\(offline)")
        #expect(stage.names.askedNames.isEmpty && stage.origin.connectionCount == 0)
        // In the same namespace, requests that are sent do arrive.
        let live = try stage.run("", "status https://allowed.test; status https://payments.test")
        #expect(live.output == "200 200 ", "\(live)")
        #expect(Set(stage.names.askedNames) == ["allowed.test", "payments.test"])
        #expect(stage.origin.connectionCount >= 2)
    }
}
