import Foundation
import TestSupport
import Testing

@Suite("larder doctor")
struct DoctorTests {
    /// A user with an authority and settings that intercept, and a Larder that serves for what the script does.
    private static func outcome(of script: String) throws -> CommandLineTests.Outcome {
        let folder = try TemporaryFolder()
        _ = try folder.write(
            """
            listen: ["127.0.0.1:0"]
            store: {path: ":memory:"}
            log: {access: {format: off}}
            tls: {default: {connect: intercept}}
            """, to: ".config/larder/config.yaml")
        try FileManager.default.createDirectory(atPath: "\(folder.path)/tmp", withIntermediateDirectories: true)
        return try CommandLineTests.shell(
            """
            larder() { "$larder" "$@"; }
            serve() {
                rm -f $HOME/port
                larder serve --quiet --port-file $HOME/port &
                until test -s $HOME/port; do kill -0 $! || exit 1; sleep 0.02; done
            }
            # What is wrong, and what is said to mend it.
            named() { larder doctor --client curl | grep -A1 "^bad " | grep -v "^--"; }
            mend() { eval "$(larder doctor --client curl | sed -n 's/^ *mend it by: //p')" > $HOME/said 2>&1; }
            well() { larder doctor --client curl > $HOME/last && echo "all is well" || cat $HOME/last; }
            larder ca init > $HOME/said 2>&1
            serve
            eval "$(larder env)"
            \(script)
            larder stop > $HOME/said 2>&1
            ls $TMPDIR
            """, ["HOME": folder.path, "TMPDIR": "\(folder.path)/tmp", "XDG_RUNTIME_DIR": folder.path])
    }

    @Test("Where all is well it says so of each, and ends with 0, leaving nothing behind")
    func isContent() throws {
        let outcome = try Self.outcome(
            of: "larder doctor --client curl; echo $?; larder doctor --client curl -o json | grep -c '\"good\"'")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.dropLast(2).allSatisfy { $0.hasPrefix("good ") }, "\(outcome)")
        #expect(lines.contains("good     curl, http: it goes through Larder"))
        #expect(lines.contains("good     curl, https: it believes Larder's root"))
        #expect(lines.suffix(2) == ["0", "\(lines.count - 2)"])
    }

    @Test(
        "What is broken is named with the command that mends it, and that command does",
        arguments: [
            (
                "export http_proxy=http://127.0.0.1:1",
                "bad      proxy variables: http_proxy is http://127.0.0.1:1, and Larder listens on"
            ),
            ("export NO_PROXY=localhost,corp.test", "bad      NO_PROXY: NO_PROXY=localhost,corp.test: no rule sees these hosts"),
            (
                "export SSL_CERT_FILE=/etc/passwd",
                "bad      trust variables: SSL_CERT_FILE is /etc/passwd, which lacks Larder's root"
            ),
            ("chmod 644 $HOME/.local/share/larder/ca/current/root.key", "root.key: others may get at it"),
            ("chmod 755 $HOME/.local/share/larder/ca", "ca: others may get at it"),
            ("rm -r $HOME/.local/share/larder/ca", "bad      authority: there is no authority in"),
            ("echo > $HOME/.local/share/larder/ca/current/root.key", "root.key: is not a private key in PEM"),
            ("echo 'proxy = 127.0.0.1:1' > $HOME/.curlrc", "bad      curl, http: nothing came of it"),
            (
                "export EDITOR='sed -i s/stroe/store/'; sed -i s/store/stroe/ $HOME/.config/larder/config.yaml",
                "config.yaml:2:1: unknown key `stroe`; did you mean `store`?"
            ),
        ])
    func namesAndMends(breaking: String, named: String) throws {
        let outcome = try Self.outcome(of: "\(breaking)\nnamed\nmend\nwell")
        #expect(outcome.output.contains(named), "\(outcome)")
        #expect(outcome.output.hasSuffix("all is well\n"), "\(outcome)")
    }

    @Test("Where none runs, that is what is wrong")
    func missesTheServer() throws {
        let outcome = try Self.outcome(of: "larder stop > $HOME/said; named; serve; eval \"$(larder env)\"; well")
        #expect(outcome.output.hasPrefix("bad      larder: none runs: nothing answers on"), "\(outcome)")
        #expect(outcome.output.contains("mend it by: larder serve &\n") && outcome.output.hasSuffix("all is well\n"))
    }

    @Test("A program that is not tried is wrong usage")
    func knowsItsPrograms() throws {
        let outcome = try CommandLineTests.larder("doctor", "--client", "netscape")
        #expect(outcome.code == 2 && outcome.talk.contains("'netscape' is not among the programs that are tried: curl, "))
    }
}
