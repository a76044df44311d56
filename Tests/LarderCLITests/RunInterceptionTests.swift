import Foundation
import TestSupport
import Testing

@Suite("larder run with https")
struct RunInterceptionTests {
    /// An origin that the system does not trust, settings that do, and a user's folders.
    final class Stage {
        let pinned: PinnedStage
        let origin: ScriptedOrigin
        let user: [String: String]

        init() throws {
            pinned = try PinnedStage()
            origin = ScriptedOrigin(identity: pinned.authority.identity()) { connection in
                while let head = connection.readHead() {
                    connection.respond(fields: "Cache-Control: max-age=600\r\n", body: OriginRequest(head: head).target)
                }
            }
            _ = try pinned.settings(
                """
                resolve: {one.test: 127.0.0.1}
                tunnel: {ports: any}
                tls: {hosts: {one.test: {anchors: {bundle: root.pem}}}}
                """)
            try FileManager.default.createDirectory(atPath: "\(pinned.folder.path)/tmp", withIntermediateDirectories: true)
            let home = pinned.folder.path
            user = ["HOME": home, "TMPDIR": "\(home)/tmp", "XDG_RUNTIME_DIR": "\(home)/run"]
        }

        deinit { origin.stop() }

        var url: String { "https://one.test:\(origin.port)" }

        func run(_ words: String...) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(["run", "-c", "\(pinned.folder.path)/larder.yaml"] + words, environment: user)
        }

        func left() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: "\(pinned.folder.path)/tmp") }
    }

    @Test("https is answered with the run's own CA: a miss, a hit, and a hit offline without the origin")
    func intercepts() throws {
        let stage = try Stage()
        let first = try stage.run("--summary", "--", "curl", "-sS", "-i", "\(stage.url)/a")
        #expect(first.output.contains("fwd=uri-miss; stored") && first.output.hasSuffix("/a"), "\(first)")
        #expect(first.talk.hasPrefix("larder: 1 request, 0 hits"))
        let second = try stage.run("--summary", "--", "curl", "-sS", "-i", "\(stage.url)/a")
        #expect(second.output.contains("cache-status: Larder; hit"), "\(second)")
        #expect(stage.origin.requestHeads.count == 1)
        stage.origin.stop()
        let offline = try stage.run("--offline", "--strict", "--", "curl", "-sS", "-i", "\(stage.url)/a")
        #expect(offline.code == 0 && offline.output.hasSuffix("/a"), "\(offline)")
        let missed = try stage.run("--offline", "--strict", "--summary", "--", "curl", "-sS", "\(stage.url)/b")
        #expect(missed.code == 4 && missed.talk.contains("1 missed\n"))
        #expect(missed.talk.contains("(offline_miss): GET \(stage.url)/b\n"))
        #expect(try stage.left().isEmpty)
    }

    @Test("curl --http1.0 is intercepted; a client that offers only another protocol is named in the summary and fails --strict")
    func reportsTunnels() throws {
        let stage = try Stage()
        let old = try stage.run("--strict", "--summary", "--", "curl", "-sS", "-i", "--http1.0", "\(stage.url)/a")
        #expect(old.code == 0 && old.output.contains("fwd=uri-miss; stored") && old.output.hasSuffix("/a"), "\(old)")
        let host = "one.test:\(stage.origin.port)"
        let script =
            "openssl s_client -quiet -no_ign_eof -alpn imap -proxy ${http_proxy#http://} -connect \(host) -servername one.test < /dev/null; true"
        let hidden = try stage.run("--strict", "--summary", "--", "sh", "-c", script)
        #expect(hidden.code == 4 && hidden.talk.contains(", 1 not intercepted\n"), "\(hidden)")
        #expect(hidden.talk.contains("not intercepted (no_http1_offered), so no rules applied to its requests: \(host)\n"))
        let untold = try stage.run("--strict", "--", "sh", "-c", script)
        #expect(untold.code == 4 && untold.talk.contains("1 not intercepted (--strict)"), "\(untold)")
    }

    @Test("A tunnel that could not be opened, or whose server is not trusted, is a failed request, and passes --strict")
    func passesFailedTunnels() throws {
        let stage = try Stage()
        let stranger = ScriptedOrigin(identity: TestAuthority.selfSignedIdentity()) { _ in }
        defer { stranger.stop() }
        stage.origin.stop()
        for (port, code) in [(stage.origin.port, "connection_refused"), (stranger.port, "certificate_not_trusted")] {
            let host = "one.test:\(port)"
            let script =
                "openssl s_client -quiet -no_ign_eof -alpn imap -proxy ${http_proxy#http://} -connect \(host) -servername one.test < /dev/null; true"
            let outcome = try stage.run("--strict", "--summary", "--", "sh", "-c", script)
            #expect(outcome.code == 0 && outcome.talk.contains(", 1 failed\n"), "\(outcome)")
            #expect(outcome.talk.contains("failed (\(code)): CONNECT \(host)\n"), "\(outcome)")
            #expect(!outcome.talk.contains("not intercepted"))
        }
    }

    @Test(
        "With --no-intercept the command verifies the server itself, with the CA certificates that the settings name, and nothing is stored"
    )
    func tunnels() throws {
        let stage = try Stage()
        for _ in 0..<2 {
            let outcome = try stage.run("--no-intercept", "--", "curl", "-sS", "-i", "\(stage.url)/a")
            #expect(outcome.output.contains("200 OK") && !outcome.output.contains("Cache-Status"), "\(outcome)")
        }
        #expect(stage.origin.requestHeads.count == 2)
    }

    private static let files: [Substring] = [
        "admin.sock", "admin.sock.lock", "apt.conf", "ca-bundle.pem", "ca.pem", "former.json", "larder.ini", "trust.p12",
        "wgetrc",
    ]

    @Test("Each run has its own CA, whose key is in no file; a host that is not trusted gives a 502 inside TLS")
    func keepsItsKey() throws {
        let stage = try Stage()
        let script = """
            cd $(dirname $SSL_CERT_FILE) && ls && grep -rl "PRIVATE KEY" .
            sha256sum < $NODE_EXTRA_CA_CERTS
            """
        let first = try stage.run("--", "sh", "-c", script)
        let lines = first.output.split(separator: "\n")
        #expect(lines.dropLast() == Self.files)
        #expect(try stage.run("--", "sh", "-c", script).output.split(separator: "\n").last != lines.last)
        let other = ScriptedOrigin(identity: TestAuthority.selfSignedIdentity()) { _ in }
        defer { other.stop() }
        let refused = try stage.run("--", "curl", "-sS", "-w", "%{http_code}", "https://one.test:\(other.port)/")
        #expect(refused.code == 0 && refused.output.hasSuffix("502") && other.requestHeads.isEmpty, "\(refused)")
    }

    @Test(
        "Programs with the variables of larder env trust a Larder that intercepts, and its files stay unchanged the second time")
    func isBelievedByEnv() throws {
        let stage = try Stage()
        let outcome = try CommandLineTests.shell(
            """
            $larder ca init > $folder/ca.out 2>&1
            set -- --store :memory: --set log.access.format=off --set 'tls.default={connect: intercept}'
            set -- "$@" --set "tls.hosts={one.test: {anchors: {bundle: $folder/root.pem}, connect: intercept}}"
            $larder serve --quiet -c $folder/larder.yaml --listen 127.0.0.1:0 --port-file $folder/port "$@" &
            until test -s $folder/port; do kill -0 $! || exit 1; sleep 0.02; done
            eval "$($larder env)"
            curl -sS -i $url | grep -ci Cache-Status
            touch -d @0 $(dirname $SSL_CERT_FILE)/*
            eval "$($larder env)"
            find $(dirname $SSL_CERT_FILE) -newermt @1 -type f
            $larder run --join -- curl -sS $url && echo
            kill $!
            wait $!
            """, stage.user.merging(["folder": stage.pinned.folder.path, "url": "\(stage.url)/a"]) { $1 })
        #expect(outcome.output == "1\n/a\n", "\(outcome)")
    }
}
