import Foundation
import TestSupport
import Testing

@Suite("larder record and larder replay")
struct RecordTests {
    @Test(
        "A command's recorded requests get the same responses without the origin; a miss is reported with the nearest recording")
    func replaysWithTheOriginGone() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "this is \(request.target)\n") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let file = "\(folder.path)/job.larder"
        let url = "http://127.0.0.1:\(origin.port)"
        func larder(_ words: String...) throws -> CommandLineTests.Outcome {
            try CommandLineTests.larder(words, environment: ["HOME": folder.path, "TMPDIR": folder.path])
        }

        let recorded = try larder("record", "--strict", "-o", file, "--", "curl", "-sS", "\(url)/a", "\(url)/b")
        #expect(recorded.code == 0 && recorded.output == "this is /a\nthis is /b\n", "\(recorded)")
        #expect(recorded.talk.contains("larder: 2 recorded in \(file)\n"), "\(recorded.talk)")
        #expect(!FileManager.default.fileExists(atPath: "\(file).partial"))

        let refused = try larder("record", "-o", file, "--", "curl", "-sS", "\(url)/c")
        #expect(refused.code == 125 && refused.output.isEmpty)
        #expect(refused.talk.contains("record.file: \(file) already exists: append to it (--append, "), "\(refused.talk)")
        #expect(refused.talk.contains("--missing") && refused.talk.contains("--overwrite"), "\(refused.talk)")
        #expect(origin.requestHeads.count == 2)

        origin.stop()
        let replayed = try larder("replay", "--strict", file, "--", "curl", "-sS", "\(url)/a", "\(url)/b")
        #expect(replayed.code == 0 && replayed.output == recorded.output, "\(replayed)")
        #expect(replayed.talk.contains("larder: 2 replayed, 0 missed, 0 not requested\n"), "\(replayed.talk)")

        #expect(!replayed.talk.contains("without a key"), "no secret was matched")

        let missed = try larder("replay", "--strict", "--unused", file, "--", "curl", "-sS", "\(url)/a?x=1")
        #expect(missed.code == 4 && missed.output.contains("\"code\":\"offline_miss\""), "\(missed)")
        for line in [
            "larder: 0 replayed, 1 missed, 2 not requested", "larder:   missed: GET \(url)/a?x=1",
            "larder:     nearest: GET \(url)/a: query parameter x", "larder:   not requested: GET \(url)/b",
        ] {
            #expect(missed.talk.contains("\(line)\n"), "\(missed.talk)")
        }
        #expect(try larder("replay", "--quiet", file, "--", "curl", "-sS", "\(url)/none").code == 0)
    }

    @Test("A secret that the recording's match file declares is not in the summary of a replay")
    func masksDeclaredSecrets() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "ok") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        _ = try folder.write(#"{"secrets": {"query": ["who"], "patterns": ["acct-[0-9]+"]}}"#, to: "match.json")
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME; $larder record --match match.json -o a.larder -- curl -sS -o x $url/a 2> said; echo $?
            $larder replay --strict a.larder -- curl -sS -o x "$url/acct-77?who=me3"; echo $?
            """,
            ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        #expect(outcome.output == "0\n4\n", "\(outcome)")
        #expect(outcome.talk.contains("missed: GET http://127.0.0.1:\(origin.port)/{secret}?who={secret}\n"), "\(outcome.talk)")
        #expect(!outcome.talk.contains("acct-77") && !outcome.talk.contains("me3"), "\(outcome.talk)")
    }

    @Test("The command's own exit code takes precedence, and its requests are still recorded")
    func handsTheCodeOn() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: request.target) }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            $larder record -o job.larder -- sh -c "curl -sS $url; exit 3"
            echo " $?"
            $larder replay --strict job.larder -- sh -c "curl -sS $url; exit 7"
            echo " $?"
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)/a"])
        #expect(outcome.output == "/a 3\n/a 7\n", "\(outcome)")
        #expect(origin.requestHeads.count == 1)
    }

    @Test(
        "A killed recording is reported with --resume, or for a server with record.existing: resume, and --resume continues it"
    )
    func namesResume() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: request.target) }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            $larder record --resume -o job.larder -- true; echo $?
            $larder record -o job.larder -- sh -c 'curl -sS $url/a; kill -9 $PPID'; echo " $?"
            $larder record -o job.larder -- true; echo $?
            $larder serve --listen 127.0.0.1:0 --store :memory: --set admin.socket=$HOME/socket --set mode=record \
                --set record.file=$HOME/job.larder; echo $?
            $larder record --resume -o job.larder -- curl -sS $url/b; echo " $?"
            : > empty.larder.partial; $larder record --resume -o empty.larder -- true; echo $?
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        #expect(outcome.output == "125\n/a 137\n125\n1\n/b 0\n125\n", "\(outcome)")
        let empty = "\(folder.path)/empty.larder.partial"
        #expect(
            outcome.talk.contains("\(empty) is empty: nothing was recorded; delete it and start without --resume"),
            "\(outcome.talk)")
        let partial = "\(folder.path)/job.larder.partial"
        #expect(
            outcome.talk.contains(
                "record.file: \(partial) does not exist, so there is no recording to resume: start without --resume"),
            "\(outcome.talk)")
        let advice =
            "record.file: \(partial) is an unfinished recording: continue it (--resume; for a server, `record.existing: resume`)"
        #expect(outcome.talk.components(separatedBy: advice).count == 3, "\(outcome.talk)")
        #expect(FileManager.default.fileExists(atPath: "\(folder.path)/job.larder"))
    }

    @Test("A server that resumes a killed recording leaves only the finished file")
    func serverResumes() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: request.target) }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let place = ["HOME": folder.path, "TMPDIR": folder.path]
        let killed = try CommandLineTests.shell(
            "$larder record -o $HOME/job.larder -- sh -c 'kill -9 $PPID'; cd $HOME; ls -d job*", place)
        #expect(killed.output == "job.larder.partial\njob.larder.partial-wal\n", "\(killed)")

        let served = try ServeTests.Served(
            "mode: record\nrecord: {file: \(folder.path)/job.larder, existing: resume}\n")
        let client = try RawClient(port: UInt16(try #require(try served.ports().first)), owner: served)
        let url = "http://127.0.0.1:\(origin.port)/b"
        client.send("GET \(url) HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\n\r\n")
        #expect(try client.readResponse().text == "/b")
        served.signal(SIGTERM)
        #expect(served.hasEnded())
        let listed = try CommandLineTests.shell("cd $HOME; ls -d job*; $larder snapshot ls job.larder", place)
        #expect(listed.output == "job.larder\n1.0 200 2 GET \(url)\n", "\(listed)")
    }

    @Test("An error about a file that another process is recording into names that process", arguments: ["", "--resume"])
    func namesTheRecordingProcess(option: String) throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            $larder record -o job.larder -- sh -c 'echo $PPID; $larder record $option -o job.larder -- true; echo $?'
            """, ["HOME": folder.path, "TMPDIR": folder.path, "option": option])
        let lines = outcome.output.split(separator: "\n")
        try #require(lines.count == 2, "\(outcome)")
        #expect(lines[1] == "125")
        let partial = "\(folder.path)/job.larder.partial"
        #expect(outcome.talk.contains("record.file: \(partial): process \(lines[0]) is recording into it"), "\(outcome.talk)")
    }

    @Test(
        "Without a file name, record, replay and explain use the same file: the project's, else recording.larder in the working folder"
    )
    func usesOneDefault() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "\(request.target)\n") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME; mkdir deep
            $larder replay -- true; echo $?
            for place in . deep; do
              (cd $place; $larder record -- curl -sS $url/x$place; $larder replay --strict -- curl -sS $url/x$place
              $larder explain --replay $url/x$place | cut -c 1-8)
              mkdir -p .larder
            done
            ls recording.larder .larder
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        #expect(
            outcome.output
                == "125\n/x.\n/x.\nreplayed\n/xdeep\n/xdeep\nreplayed\nrecording.larder\n\n.larder:\nrecording.larder\n",
            "\(outcome)")
        #expect(
            outcome.talk.contains("larder: recording.larder does not exist: create it with `larder record"),
            "\(outcome.talk)")
    }

    @Test(
        "The summary reports that no key was given for a matched secret, and neither it nor the log shows the secret of a miss")
    func tellsOfSecretsWithoutKey() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "a") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            $larder record --key key -o a.larder -- curl -sS -o x -H "Authorization: Bearer abcdefghijklmnop" $url/a
            $larder replay --strict a.larder -- curl -sS -o x -H "Authorization: Bearer ponmlkjihgfedcba" $url/a; echo $?
            $larder replay --strict --key key a.larder -- curl -sS -o x -H "Authorization: Bearer abcdefghijklmnop" $url/a; echo $?
            $larder replay --log - --strict a.larder -- curl -sS -o x "$url/b?n=1&password=open-sesame"; echo $?
            $larder replay --log log --strict --set log.access.query=true a.larder -- curl -sS -o x "$url/b?n=1"; grep -c 'b?n=1' log
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        let lines = outcome.output.split(separator: "\n")
        try #require(lines.count == 5, "\(outcome)")
        #expect(lines[0] == "0" && lines[1] == "0" && lines[3] == "4" && lines[4] == "1", "\(outcome)")
        #expect(lines[2].contains(#""url":"http://127.0.0.1:\#(origin.port)/b","#), "\(lines[2])")
        #expect(outcome.talk.components(separatedBy: "without a key, any value matched").count == 2, "\(outcome.talk)")
        #expect(outcome.talk.contains("missed: GET http://127.0.0.1:\(origin.port)/b?n=1&password={secret}\n"), "\(outcome.talk)")
        #expect(!(outcome.talk + outcome.output).contains("open-sesame"))
    }

    @Test("A recording that declares names as public is continued only if the user allows that for the run")
    func asksForPublicNames() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "\(request.target)\n") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            mkdir -m 755 p p/.larder; cd p
            printf '{"secrets": {"public": ["token"]}}' > match
            $larder record --match match -- curl -sS -o x $url/a?token=5
            for word in --append --missing; do
              $larder record $word -- curl -sS -o x $url/b?token=6; echo $?
              $larder record $word --project-settings=allow -- curl -sS -o x $url/b?token=6; echo $?
            done
            # A decision about the policy is no decision about a recording.
            echo 'limits: {fields: 50}' > .larder/policy.yaml
            $larder project allow > said; $larder record --append -- curl -sS -o x $url/c?token=7; echo $?
            # Outside of a project too.
            cp .larder/recording.larder ../recording.larder; cd ..
            $larder record --append -- curl -sS -o x $url/c?token=7; echo $?
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        #expect(outcome.output == "125\n0\n125\n0\n125\n125\n", "\(outcome)")
        let help = try CommandLineTests.larder("help", "record").output.split(whereSeparator: \.isWhitespace).joined(
            separator: " ")
        #expect(help.contains("allow: all settings, and the names that a recording declares as public;"), "\(help)")
        #expect(
            outcome.talk.contains("(secrets.public): token. If that is intended, use --project-settings=allow"),
            "\(outcome)")
        #expect(origin.requestHeads.count == 2)
    }

    @Test("--as-of accepts an existing generation, a whole day, and a time; another generation is an error")
    func checksGenerations() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "\(request.target)\n") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            $larder record -o a.larder -- curl -sS -o x $url/a
            $larder record --append -o a.larder -- curl -sS -o x $url/a
            $larder snapshot export a.larder --text text > x
            # 23:59:59.999 on the first day, and the midnight behind it.
            sed -i 's/"number":1,"started":[0-9]*/"number":1,"started":1793577599999/; s/"number":2,"started":[0-9]*/"number":2,"started":1793577600000/' \\
                text/manifest.json
            $larder snapshot create --from-text text -o b.larder > x
            for moment in 1 2 2026-11-01 2026-11-02; do
              $larder explain --replay --layer b.larder --set replay.as_of=$moment $url/a | cut -d ' ' -f 3,4
            done
            $larder replay --strict --as-of 2026-11-01 b.larder -- curl -sS -o x $url/a; echo $?
            for moment in 0 3 2026-11-31; do $larder replay --as-of $moment b.larder -- true; echo $?; done
            $larder explain --replay --layer b.larder --set replay.as_of=9 $url/a; echo $?
            $larder replay --as-of 2026-10-31 b.larder -- true; echo $?
            $larder explain --replay --layer b.larder --set replay.as_of=2026-10-31T10:00:00Z $url/a; echo $?
            $larder replay --as-of 2026-11-02T00:00:00Z b.larder -- true; echo $?
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        let told = [1, 2, 1, 2].map { "generation \($0),\n" }.joined()
        #expect(outcome.output == told + "0\n125\n125\n125\n1\n125\n1\n0\n", "\(outcome)")
        let early = "nothing was recorded before the given time; the first generation began at 2026-11-02T00:00:00Z"
        #expect(
            outcome.talk.contains("b.larder: \(early) (replay.as_of)") && outcome.talk.contains("larder: \(early)\n"),
            "\(outcome.talk)")
        for number in [0, 3] {
            let error = "b.larder: there is no generation \(number); the newest one is 2 (replay.as_of)"
            #expect(outcome.talk.contains(error), "\(outcome.talk)")
        }
        #expect(outcome.talk.contains("larder: there is no generation 9; the newest one is 2"), "\(outcome.talk)")
    }

    @Test("The summary of a recording names requests that match rules make equal although their responses have different bodies")
    func warnsOfEqualRequests() throws {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "\(request.target)\n") }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            echo '{"canonicalisers":[{"uri":"'$url'/list*","query":{"ignore":["page"]}}]}' > match.json
            $larder record --match match.json -o a.larder -- curl -sS -o x $url/list?page=1 -o x $url/list?page=2; echo $?
            $larder record --match match.json -o b.larder -- curl -sS -o x $url/list?page=1 -o x $url/other?page=2; echo $?
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        #expect(outcome.output == "0\n0\n", "\(outcome)")
        let url = "http://127.0.0.1:\(origin.port)/list?page="
        let warning =
            "under the match rules, 2 requests are equal, but their responses have different bodies: GET \(url)1 and \(url)2"
        let lines = outcome.talk.split(separator: "\n").filter { $0.contains("under the match rules") }
        #expect(lines == ["larder: warning: \(warning)"], "\(outcome.talk)")
    }
}
