import Foundation
import TestSupport
import Testing

@Suite("larder fetch")
struct FetchTests {
    private static let body = PatternBytes.make(300_000, seed: 1)
    private static let kept = "Cache-Control: max-age=600\r\n"
    private static let unkept = "Cache-Control: no-store\r\n"

    @Test("Fetched files are in the store: for the next fetch, offline too, and for a command in larder run")
    func usesTheStore() throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.kept))
        let stage = try FetchStage()
        let first = try stage.fetch("\(origin.url)/a.bin")
        #expect(first.code == 0 && first.output.isEmpty, "\(first)")
        #expect(first.talk.hasPrefix("\(stage.files)/a.bin: 293 KiB in "), "\(first.talk)")
        #expect(stage.content("a.bin") == Self.body)
        let second = try stage.fetch("--overwrite", "\(origin.url)/a.bin")
        #expect(second.code == 0 && second.talk.contains(", from the store"), "\(second)")
        let offline = try CommandLineTests.larder(
            ["fetch", "--offline", "-o", "\(stage.files)/b.bin", "\(origin.url)/a.bin"], environment: stage.user)
        #expect(offline.code == 0 && stage.content("b.bin") == Self.body, "\(offline)")
        #expect(origin.requests.count == 1)
        let run = try CommandLineTests.larder(
            ["run", "--", "curl", "-sS", "-o", "/dev/null", "-D", "-", "\(origin.url)/a.bin"], environment: stage.user)
        #expect(run.output.contains("Cache-Status: Larder; hit"))
        let refreshed = try stage.fetch("--overwrite", "--refresh", "\(origin.url)/a.bin")
        #expect(refreshed.code == 0 && origin.requests.count == 2, "\(refreshed)")
        #expect(try stage.names() == ["a.bin", "b.bin"])
    }

    @Test("--overwrite keeps the mode of the file that it replaces; a new file has the mode that the umask leaves")
    func keepsMode() throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.kept))
        let stage = try FetchStage()
        let outcome = try CommandLineTests.shell(
            """
            cd $files; umask 027
            $larder fetch $url/a.bin; stat -c %a a.bin
            chmod 600 a.bin; $larder fetch --overwrite $url/a.bin; stat -c %a a.bin
            chmod 755 a.bin; $larder fetch --overwrite -o a.bin $url/a.bin; stat -c %a a.bin
            """, stage.user.merging(["files": stage.files, "url": origin.url]) { $1 })
        #expect(outcome.output == "640\n600\n755\n", "\(outcome)")
    }

    @Test("--no-store stores nothing")
    func keepsOut() throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.kept))
        let stage = try FetchStage()
        #expect(try stage.fetch("--no-store", "\(origin.url)/a").code == 0)
        #expect(try stage.fetch("--offline", "--overwrite", "\(origin.url)/a").code == 4)
    }

    @Test("A running Larder that has the store is used, and stores the fetched file")
    func goesThroughTheOneThatRuns() throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.kept))
        let stage = try FetchStage()
        let outcome = try CommandLineTests.shell(
            """
            $larder serve --listen 127.0.0.1:0 --port-file $HOME/ports --set log.access.path=$HOME/log &
            serve=$!
            until test -s $HOME/ports; do kill -0 $serve || exit 99; sleep 0.02; done
            $larder fetch -d $files $url/a.bin || exit 98
            # With settings of its own it asks nobody, and finds the same in the file that the other has.
            $larder fetch -d $files --overwrite --set loops=1 $url/a.bin || exit 97
            kill $serve
            wait $serve
            cat $HOME/log
            """, stage.user.merging(["files": stage.files, "url": origin.url]) { $1 })
        #expect(outcome.code == 0, "\(outcome)")
        #expect(outcome.output.contains("/a.bin") && outcome.output.split(separator: "\n").count == 1)
        #expect(
            outcome.talk.contains("the store is opened read-only") && outcome.talk.contains(", from the store"), "\(outcome.talk)"
        )
        #expect(origin.requests.count == 1)
    }

    @Test(
        "Each kind of failure has its own exit code",
        arguments: [
            (["fetch"], 2, "Which URL?"), (["fetch", "ftp://a/b"], 2, "the scheme is not http or https"),
            (
                ["fetch", "--digest", "md5:00", "http://127.0.0.1:1/"], 2,
                "'md5:00' is not a digest: expected sha256: and 64 hexadecimal digits, or sha512: and 128"
            ),
            (
                ["fetch", "--digest", "sha512:", "http://127.0.0.1:1/"], 2,
                "'sha512:' is not a digest: expected 128 hexadecimal digits after sha512:, found nothing"
            ),
            (
                ["fetch", "--digest", "SHA-256:12ab", "http://127.0.0.1:1/"], 2,
                "expected 64 hexadecimal digits after sha256:, found 4 characters"
            ),
            (
                ["fetch", "--digest", "sha256:\(String(repeating: "g", count: 64))", "http://127.0.0.1:1/"], 2,
                "expected 64 hexadecimal digits after sha256:, found characters that are not hexadecimal digits"
            ),
            (["fetch", "--parts", "17", "http://127.0.0.1:1/"], 2, "--parts must be from 1 to 16"),
            (["fetch", "-H", "Range: bytes=0-1", "http://127.0.0.1:1/"], 2, "-H cannot set Range"),
            (["fetch", "-o", "a", "http://127.0.0.1:1/", "http://127.0.0.1:1/"], 2, "-o names one file"),
            (["fetch", "-i", "/no/list"], 2, "cannot read /no/list"),
            (["fetch", "--set", "loops=0", "http://127.0.0.1:1/"], 2, "loops:"),
            (["fetch", "-o", "/no/folder/file", "http://127.0.0.1:1/"], 3, "cannot write /no/folder"),
            (["fetch", "-o", "/tmp", "--overwrite", "http://127.0.0.1:1/"], 3, "/tmp exists and is not a regular file"),
            (["fetch", "--offline", "http://127.0.0.1:1/"], 4, "no stored or recorded response can be used"),
            (["fetch", "--retries", "0", "http://127.0.0.1:1/"], 8, "refused the connection"),
            (["fetch", "--retries", "0", "http://no.such.host.invalid/"], 8, "name was not found"),
        ] as [([String], Int32, String)])
    func exits(words: [String], code: Int32, sentence: String) throws {
        let stage = try FetchStage()
        let outcome = try CommandLineTests.larder(words, environment: stage.user)
        #expect(outcome.code == code && outcome.output.isEmpty && outcome.talk.contains(sentence), "\(outcome)")
    }

    @Test("An unsuccessful status exits with 9, a denial by a rule with 4, and no file is left")
    func refuses() throws {
        let origin = FetchOrigin { _, request in
            FetchOrigin.Manner(body: Array("no".utf8), tag: nil, status: request.target == "/gone" ? "410 Gone" : "200 OK")
        }
        let stage = try FetchStage()
        let gone = try stage.fetch("-q", "\(origin.url)/gone")
        #expect(gone.code == 9 && gone.talk == "gone: the server responded with status 410\n", "\(gone)")
        let rules = try stage.folder.write(
            "rules: [{name: no-files, match: {path: /denied}, deny: {reason: not from here}}]\n", to: "rules.yaml")
        let denied = try stage.fetch("--policy", rules, "\(origin.url)/denied")
        #expect(denied.code == 4 && denied.talk.contains("(rule no-files) (not from here)"), "\(denied)")
        #expect(try stage.names().isEmpty)
    }

    @Test("Temporary errors are reported and retried")
    func triesAgain() throws {
        let origin = FetchOrigin { number, _ in
            number < 3
                ? FetchOrigin.Manner(body: [], tag: nil, status: "503 Service Unavailable")
                : FetchOrigin.Manner(body: Self.body, fields: Self.unkept)
        }
        let stage = try FetchStage()
        let outcome = try stage.fetch("\(origin.url)/a")
        #expect(outcome.code == 0 && stage.content("a") == Self.body)
        #expect(outcome.talk.contains("a: the server responded with status 503: retrying in 0."), "\(outcome.talk)")
    }

    @Test("If a server asks to wait longer than the limit, the fetch fails, and both times are reported")
    func givesUpWaiting() throws {
        let origin = FetchOrigin(.init(body: [], tag: nil, fields: "Retry-After: 86400\r\n", status: "503 Service Unavailable"))
        let stage = try FetchStage()
        let outcome = try stage.fetch("\(origin.url)/a")
        #expect(outcome.code == 9 && origin.requests.count == 1)
        #expect(
            outcome.talk
                == "a: the server responded with status 503 and asked to wait 24 h 00 min; larder fetch waits at most 1 min 00 s\n",
            "\(outcome)")
    }

    @Test("A wrong digest exits with 5 and leaves no file; a correct one is confirmed; the server's own digests are verified")
    func checksDigests() throws {
        let wrong = String(repeating: "0", count: 64)
        let origin = FetchOrigin { _, request in
            var manner = FetchOrigin.Manner(body: Array("hello\n".utf8), fields: Self.unkept)
            if request.target == "/repr" {
                manner.fields += "Repr-Digest: sha-256=:\(Data(count: 32).base64EncodedString()):\r\n"
            }
            if request.target == "/content" {
                manner.fields += "Content-Digest: sha-256=:\(Data(count: 32).base64EncodedString()):\r\n"
            }
            return manner
        }
        let stage = try FetchStage()
        let differs = try stage.fetch("--digest", "sha256:\(wrong)", "\(origin.url)/a")
        #expect(differs.code == 5 && differs.talk.contains("the digest is wrong: sha256:5891b5"), "\(differs)")
        #expect(try stage.fetch("\(origin.url)/repr").code == 5)
        #expect(try stage.fetch("\(origin.url)/content").code == 5)
        #expect(try stage.names().isEmpty)
        let right = "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"
        let fits = try stage.fetch("--digest", right, "\(origin.url)/a")
        #expect(fits.code == 0 && fits.talk.contains(", sha256 matches"), "\(fits)")
        let there = try stage.fetch("--digest", right, "\(origin.url)/a")
        #expect(there.code == 0 && there.talk.contains("already complete"), "\(there)")
    }

    @Test("Each suggested name is used once in the folder, and an existing file stays unless --overwrite is given")
    func namesSafely() throws {
        let origin = FetchOrigin { _, request in
            var manner = FetchOrigin.Manner(body: Array(request.target.utf8), tag: nil, fields: Self.unkept)
            if request.target == "/up" { manner.fields += "Content-Disposition: attachment; filename=\"../../../etc/up\"\r\n" }
            if request.target == "/hidden" { manner.fields += "Content-Disposition: attachment; filename=\".bashrc\"\r\n" }
            return manner
        }
        let stage = try FetchStage()
        #expect(
            try stage.fetch("\(origin.url)/up", "\(origin.url)/hidden", "\(origin.url)/", "\(origin.url)/x/..%2f..%2fy").code == 0
        )
        #expect(try stage.names() == ["bashrc", "download", "up", "y"])
        let again = try stage.fetch("\(origin.url)/up")
        #expect(again.code == 3 && again.talk.contains("already exists; --overwrite replaces it"), "\(again)")
        #expect(stage.content("up") == Array("/up".utf8))
        let list = try stage.folder.write("\(origin.url)/up out=../up\n", to: "list")
        let refused = try stage.fetch("-i", list)
        #expect(refused.code == 2 && refused.talk.contains("\(list):1: '../up' is not a plain file name"), "\(refused)")
    }

    @Test(
        "A list is fetched with limited concurrency, with the digests and names of its lines; the exit code is that of the first failure"
    )
    func fetchesLists() throws {
        let origin = ScriptedOrigin { connection in
            while let head = connection.readHead() {
                connection.pause(milliseconds: 50)
                let target = OriginRequest(head: head).target
                connection.respond(target == "/3" ? "404 Not Found" : "200 OK", fields: Self.unkept, body: target)
            }
        }
        defer { origin.stop() }
        let stage = try FetchStage()
        var lines = (1...12).map { "http://127.0.0.1:\(origin.port)/\($0)" }
        lines[1] += " out=two # the second"
        lines[3] += " sha256:\(String(repeating: "0", count: 64))"
        // As some editors start a file.
        let list = try stage.folder.write("\u{FEFF}" + lines.joined(separator: "\n") + "\n\n# the end\n", to: "list")
        let outcome = try stage.fetch("-i", list, "--at-once", "3", "--json")
        #expect(outcome.code == 9, "\(outcome)")
        #expect(origin.peakOpenCount <= 3)
        #expect(try stage.names() == ["1", "10", "11", "12", "5", "6", "7", "8", "9", "two"])
        let said = try outcome.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(said.count == 12)
        #expect(said.compactMap { $0["error"] as? String }.sorted() == ["digest", "status"])
        let pipe = try CommandLineTests.shell(
            "echo http://127.0.0.1:\(origin.port)/20 | $larder fetch -q -d $files -i -",
            stage.user.merging(["files": stage.files]) { $1 })
        #expect(pipe.code == 0 && pipe.talk.isEmpty && stage.content("20") == Array("/20".utf8), "\(pipe)")
    }

    @Test("-o - writes the complete content to standard output, and nothing if the digest is wrong")
    func writesOut() throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.unkept))
        let stage = try FetchStage()
        let outcome = try CommandLineTests.shell("$larder fetch -q -o - \(origin.url)/a | cksum", stage.user)
        try Data(Self.body).write(to: URL(filePath: "\(stage.folder.path)/body"))
        let expected = try CommandLineTests.shell("cksum < $HOME/body", stage.user)
        #expect(outcome.output == expected.output && outcome.talk.isEmpty, "\(outcome)")
        let differs = try CommandLineTests.larder(
            ["fetch", "-o", "-", "--digest", "sha256:\(String(repeating: "0", count: 64))", "\(origin.url)/a"],
            environment: stage.user)
        #expect(differs.code == 5 && differs.output.isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder.path).allSatisfy { !$0.hasSuffix(".part") })
    }

    @Test("User names, passwords and fields are sent to the server, and appear in no message")
    func keepsSecrets() throws {
        let origin = FetchOrigin(.init(body: [], tag: nil, status: "403 Forbidden"))
        let stage = try FetchStage()
        let fields = try stage.folder.write("X-Token: s3cret\n", to: "fields")
        let url = "http://ann:s3cret@127.0.0.1:\(origin.origin.port)/a?key=s3cret"
        let outcome = try stage.fetch("-H", "@\(fields)", "--json", url)
        #expect(outcome.code == 9 && !outcome.talk.contains("s3cret") && !outcome.output.contains("ann"), "\(outcome)")
        let request = try #require(origin.requests.first)
        #expect(request["Authorization"] == "Basic YW5uOnMzY3JldA==" && request["X-Token"] == "s3cret")
        let bad = try stage.fetch("http://ann:s3cret@/", "http://ann:s3cret@a b/")
        #expect(bad.code == 2 && !bad.talk.contains("s3cret"), "\(bad)")
    }

    @Test("The settings' trust policies apply: an untrusted server exits with 7, one whose CA they name is accepted")
    func judges() throws {
        let pinned = try PinnedStage()
        let server = pinned.serve(pinned.authority.identity())
        let stage = try FetchStage()
        let url = "https://one.test:\(server.port)/a"
        let unknown = try stage.fetch("--set", "resolve={one.test: 127.0.0.1}", url)
        #expect(unknown.code == 7 && unknown.talk.contains("(incomplete_chain)"), "\(unknown)")
        let settings = try pinned.settings(
            """
            resolve: {one.test: 127.0.0.1}
            tls: {hosts: {one.test: {anchors: {bundle: root.pem}}}}
            """)
        let known = try stage.fetch("-c", settings, url)
        #expect(known.code == 0 && stage.content("a") == Array("secret".utf8), "\(known)")
        let pinnedElsewhere = try pinned.settings(
            """
            resolve: {one.test: 127.0.0.1}
            tls: {hosts: {one.test: {anchors: {bundle: root.pem}, pins: {of: sha256/\(Data(count: 32).base64EncodedString())}}}}
            """)
        let mismatch = try stage.fetch("-c", pinnedElsewhere, "--overwrite", url)
        #expect(mismatch.code == 7, "\(mismatch)")
    }

    @Test("A terminal shows a bar that is redrawn and completed; other outputs get plain lines")
    func showsProgress() throws {
        let origin = FetchOrigin { _, _ in
            FetchOrigin.Manner(body: Self.body, tag: nil, fields: Self.unkept, stallsAfter: 200_000)
        }
        let stage = try FetchStage()
        let script = """
            \(FetchStage.withSignals) script -qefc "stty cols 100; $larder fetch -d \(stage.files) --set timeouts.idle=1s --retries 0 \(origin.url)/a.bin" /dev/null
            """
        let outcome = try CommandLineTests.shell(script, stage.user.merging(["TERM": "xterm", "LANG": "C.UTF-8"]) { $1 })
        #expect(outcome.code == 8, "\(outcome)")
        #expect(outcome.output.contains("a.bin") && outcome.output.contains("━") && outcome.output.contains("66 %"), "\(outcome)")
        #expect(outcome.output.contains("\u{1B}[1A\r\u{1B}[J"))
        #expect(outcome.output.contains("a.bin: the connection closed early\r\n"), "\(outcome)")
        let plain = try stage.fetch("--set", "timeouts.idle=1s", "--retries", "0", "\(origin.url)/a.bin")
        #expect(plain.code == 8 && plain.talk == "a.bin: the connection closed early\n", "\(plain)")
    }
}
