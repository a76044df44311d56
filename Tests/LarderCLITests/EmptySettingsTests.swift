import CommandSupport
import Foundation
import TestSupport
import Testing

@testable import LarderCLI

@Suite("Emptied or truncated settings")
struct EmptySettingsTests {
    typealias Served = ServeTests.Served

    private static let rules = "rules:\n  - name: not this\n    match: {path: /no}\n    deny: {reason: no}\n"

    private func larder(_ words: [String], _ served: Served) throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder(words + ["--set", "admin.socket=\(served.folder.path)/admin.sock"])
    }

    private func status(_ port: Int, _ path: String, credentials: String = "") throws -> Int {
        let client = try RawClient(port: UInt16(port))
        client.send("GET http://127.0.0.1:1\(path) HTTP/1.1\r\nHost: a\r\n\(credentials)Connection: close\r\n\r\n")
        return Int(try client.readResponse().status)
    }

    /// The content that replaces the file with the rule, and whether a reload accepts it.
    @Test(
        "A reload rejects a file that is empty or has no rule left; --allow-empty accepts it",
        arguments: [
            ("", "is empty"), ("# nothing\n", "is empty"), ("---\n~\n", "is empty"), ("{}", "is empty"),
            ("rules:\n", "no rule is left (before: 1)"), ("rules: []\nlimits: {fields: 50}\n", "no rule is left (before: 1)"),
            ("limits: {fields: 50}\n", "no rule is left (before: 1)"),
        ])
    func keepsTheRules(text: String, reason: String) throws {
        let served = try Served(Self.rules)
        let port = try #require(try served.ports().first)
        #expect(try status(port, "/no") == 403)
        _ = try served.folder.write(text, to: "larder.yaml")
        let refused = try larder(["reload"], served)
        #expect(refused.code == 2 && refused.talk.contains(reason), "\(refused)")
        #expect(refused.talk.contains("to accept this, run `larder reload --allow-empty`\n"), "\(refused)")
        served.signal(SIGHUP)
        #expect(served.says("the settings were not reloaded"))
        #expect(try status(port, "/no") == 403)
        let accepted = try larder(["reload", "--allow-empty"], served)
        #expect(accepted.code == 0, "\(accepted)")
        #expect(try status(port, "/no") == 502)
        // A file that was already empty loses nothing.
        #expect(try larder(["reload"], served).code == 0)
    }

    @Test(
        "A reload rejects an included file that is empty or has no rules left, and config check names it",
        arguments: ["", "# nothing\n", "rules:\n", "rules: []\n", "variables: {a: b}\n"])
    func keepsIncludedRules(text: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(Self.rules, to: "denied.yaml")
        let own = "include: [denied.yaml]\nrules:\n  - {name: own, match: {path: /own}, deny: {}}\n"
        let served = try Served(own, in: folder)
        let port = try #require(try served.ports().first)
        #expect(try status(port, "/no") == 403)
        _ = try folder.write(text, to: "denied.yaml")
        let refused = try larder(["reload"], served)
        #expect(refused.code == 2 && refused.talk.contains("denied.yaml is empty"), "\(refused)")
        #expect(try status(port, "/no") == 403)
        let checked = try CommandLineTests.larder("config", "check", "-c", served.settings)
        #expect((checked.talk + checked.output).contains("denied.yaml has no rules"), "\(checked)")
        #expect(try larder(["reload", "--allow-empty"], served).code == 0)
        #expect(try status(port, "/no") == 502)
    }

    @Test(
        "A reload rejects a settings file that has lost its own rules, although an included file still has rules",
        arguments: ["", "rules:\n"])
    func keepsOwnRules(rest: String) throws {
        let folder = try TemporaryFolder()
        _ = try folder.write(Self.rules, to: "denied.yaml")
        let include = "include: [denied.yaml]\n"
        let served = try Served(include + "rules:\n  - {name: own, match: {path: /own}, deny: {}}\n", in: folder)
        let port = try #require(try served.ports().first)
        #expect(try status(port, "/own") == 403)
        let text = try String(contentsOfFile: served.settings, encoding: .utf8)
        let start = try #require(text.firstRange(of: "rules:\n"))
        try (text[..<start.lowerBound] + rest).write(toFile: served.settings, atomically: false, encoding: .utf8)
        let refused = try larder(["reload"], served)
        #expect(
            refused.code == 2 && refused.talk.contains("no rule of the settings file itself is left (before: 1)"), "\(refused)")
        #expect(try status(port, "/own") == 403)
        #expect(try larder(["reload", "--allow-empty"], served).code == 0)
        #expect(try status(port, "/own") == 502)
    }

    @Test("With serve --allow-empty every reload accepts an empty file")
    func servesAllowingIt() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Self.rules, to: "larder.yaml")
        let outcome = try CommandLineTests.shell(
            """
            $larder serve -q --allow-empty -c $file --listen 127.0.0.1:0 --store :memory: --set log.access.path=/dev/null --set admin.socket=$folder/admin.sock --port-file $folder/port &
            until test -s $folder/port; do kill -0 $! || exit 1; done
            : > $file
            $larder reload --set admin.socket=$folder/admin.sock; echo $?
            $larder stop --set admin.socket=$folder/admin.sock
            """, ["folder": folder.path, "file": file])
        let opens =
            "opens GET https://other.example/no (before: rule `not this` denies the request; now: no rule denies the request)"
        #expect(outcome.output == "the settings were reloaded\n\(opens)\n0\nstopping\n", "\(outcome)")
    }

    @Test("A reload keeps the passwords and the pins that the settings no longer name")
    func keepsPasswordsAndPins() throws {
        let folder = try TemporaryFolder()
        let hash = "$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy"
        let passwords = try folder.write("me:\(hash)\n", to: "passwords")
        chmod(passwords, 0o600)
        let pins = "tls: {hosts: {a.example: {pins: {of: sha256/LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=}}}}\n"
        let named = "clients: {passwords: passwords, authenticate: all}\n"
        let served = try Served(pins + named, in: folder)
        let port = try #require(try served.ports().first)
        #expect(try status(port, "/") == 407)
        for (text, reason) in [(pins, "no password is left (before: 1)"), (named, "no host with pins is left (before: 1)")] {
            _ = try folder.write(text, to: "larder.yaml")
            let refused = try larder(["reload"], served)
            #expect(refused.code == 2 && refused.talk.contains(reason), "\(refused)")
            #expect(try status(port, "/") == 407)
        }
        #expect(try larder(["reload", "--allow-empty"], served).code == 0)
    }

    @Test("A missing settings file does not count as an empty one")
    func keepsWhatIsGone() throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: "\(folder.path)/larder", withIntermediateDirectories: true)
        _ = try folder.write("limits: {fields: 50}\n", to: "larder/config.yaml")
        let outcome = try CommandLineTests.shell(
            """
            $larder serve -q --listen 127.0.0.1:0 --store :memory: --set log.access.path=/dev/null --set admin.socket=$folder/admin.sock --port-file $folder/port &
            until test -s $folder/port; do kill -0 $! || exit 1; done
            rm $folder/larder/config.yaml
            $larder reload --set admin.socket=$folder/admin.sock; echo $?
            $larder stop --set admin.socket=$folder/admin.sock
            """, ["folder": folder.path, "XDG_CONFIG_HOME": folder.path, "HOME": folder.path])
        #expect(outcome.output == "2\nstopping\n", "\(outcome)")
        #expect(
            outcome.talk.contains("larder/config.yaml no longer exists; to accept this, run `larder reload --allow-empty`"),
            "\(outcome)")
    }

    @Test("While a file is truncated and rewritten in place, no reload allows a denied request")
    func neverLetsADeniedRequestPass() throws {
        let served = try Served(Self.rules)
        let port = try #require(try served.ports().first)
        let ended = Gate()
        let written = Gate()
        let path = served.settings
        Thread.detachNewThread {
            // Ends with a complete file.
            for _ in 0..<400 {
                guard let file = FileHandle(forWritingAtPath: path), (try? file.truncate(atOffset: 0)) != nil else { break }
                sched_yield()
                try? file.write(contentsOf: Data(Self.rules.utf8))
                try? file.close()
                sched_yield()
            }
            written.open()
            ended.open()
        }
        var codes: [Int: Int] = [:]
        for _ in 0..<150 {
            let admin = try RawClient(socketPath: "\(served.folder.path)/admin.sock")
            admin.send("POST /v1/reload HTTP/1.1\r\nHost: larder\r\nContent-Length: 0\r\n\r\n")
            codes[Int(try admin.readResponse().status), default: 0] += 1
            #expect(try status(port, "/no") == 403)
        }
        #expect(Set(codes.keys).isSubset(of: [200, 422]), "\(codes)")
        #expect(ended.wait() && written.wait())
        #expect(try larder(["reload"], served).code == 0)
        #expect(try status(port, "/no") == 403)
    }

    @Test("A file that changes while it is read is read again; reading fails if it never stops changing")
    func readsAgain() throws {
        var attempts = 0
        let octets = try LocalFile.whole { () throws(LocalFile.Unreadable) in
            attempts += 1
            return ([UInt8(attempts)], attempts == 3)
        }
        #expect(octets == [3])
        #expect(throws: LocalFile.Unreadable.self) {
            try LocalFile.whole { () throws(LocalFile.Unreadable) in ([], false) }
        }
    }

    /// The file, the output of `config check`, and its warnings.
    @Test(
        "config check warns about empty files and keys without a value",
        arguments: [
            ("", "empty, 0 rules", ["larder.yaml is empty: it sets nothing"]),
            ("# rules:\n", "empty, 0 rules", ["larder.yaml is empty: it sets nothing"]),
            (
                "limits:\nrules:\n", "good, 0 rules",
                ["larder.yaml:1:1: limits has no value: it sets nothing", "larder.yaml:2:1: rules has no value: it sets nothing"]
            ),
            (
                "store: {memory: {high: }}\n", "good, 0 rules",
                ["larder.yaml:1:18: store.memory.high has no value: it sets nothing"]
            ),
            ("limits: {fields: 50}\n", "good, 0 rules", []),
        ] as [(String, String, [String])])
    func checks(text: String, verdict: String, warnings: [String]) throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(text, to: "larder.yaml")
        let outcome = try CommandLineTests.larder("config", "check", "-c", file)
        #expect(outcome.code == 0 && outcome.output == "\(file): \(verdict)\n", "\(outcome)")
        #expect(outcome.talk == warnings.map { "larder: warning: \(folder.path)/\($0)\n" }.joined(), "\(outcome)")
        #expect(try CommandLineTests.larder("config", "check", "--allow-empty", "-c", file).talk.isEmpty)
    }
}
