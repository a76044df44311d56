import Foundation
import Synchronization
import TestSupport
import Testing

@Suite("larder replay with its options, and other uses of recordings")
struct RecordingStoriesTests {
    private final class Stage {
        /// How often the job was requested.
        private final class Polls: Sendable { let count = Atomic<Int>(0) }

        let origin: ScriptedOrigin
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            let polls = Polls()
            origin = ScriptedOrigin.answering { request, connection in
                if request.target == "/job" {
                    let count = polls.count.add(1, ordering: .relaxed).newValue
                    return connection.respond(body: count % 3 == 0 ? "done\n" : "pending\n")
                }
                let dates = """
                    Date: Mon, 23 Nov 2026 10:00:00 GMT\r
                    Expires: Mon, 23 Nov 2026 11:00:00 GMT\r
                    Set-Cookie: a=b; Expires=Mon, 23-Nov-2026 12:00:00 GMT; Path=/\r

                    """
                return connection.respond(
                    fields: "Cache-Control: max-age=600\r\n" + (request.target == "/dated" ? dates : ""),
                    body: "this is \(request.target)\n")
            }
        }
        deinit { origin.stop() }

        var url: String { "http://127.0.0.1:\(origin.port)" }

        func shell(_ script: String) throws -> CommandLineTests.Outcome {
            try CommandLineTests.shell(
                "cd $HOME\n" + script, ["HOME": folder.path, "TMPDIR": folder.path, "url": url, "XDG_CACHE_HOME": folder.path])
        }
    }

    @Test("--prune removes recordings that were not used, and none if there was a miss or the command failed")
    func prunes() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            $larder record -o a.larder -- curl -sS -o x $url/a -o x $url/b -o x $url/c
            $larder replay --prune a.larder -- curl -sS -o x $url/a -o x $url/none
            $larder replay --prune a.larder -- sh -c 'curl -sS -o x $url/a; exit 3'
            $larder snapshot ls a.larder | wc -l
            $larder replay --prune a.larder -- curl -sS -o x $url/a -o x $url/b
            $larder snapshot ls a.larder | wc -l
            $larder snapshot verify a.larder > /dev/null && $larder replay --strict a.larder -- curl -sS $url/b
            """)
        #expect(outcome.output == "3\n2\nthis is /b\n", "\(outcome)")
        #expect(outcome.talk.contains("larder: removed 1 from "), "\(outcome.talk)")
    }

    @Test("Responses that a command read only in part are recorded in full, and the run does not wait forever")
    func recordsBehindCommands() throws {
        let folder = try TemporaryFolder()
        let origin = ScriptedOrigin.answering { request, connection in
            connection.send("HTTP/1.1 200 OK\r\nETag: \"one\"\r\nContent-Length: 6\r\n\r\n")
            // Its client has its response by now.
            connection.pause(milliseconds: request.target == "/endless" ? 60_000 : 700)
            return connection.send("whole\n")
        }
        defer { origin.stop() }
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            $larder record -o a.larder -- curl -sS -w '%{http_code}\\n' -H 'If-None-Match: "one"' $url/a
            $larder replay --strict a.larder -- curl -sS $url/a
            $larder record --strict -o b.larder -- curl -sS -w '%{http_code}\\n' -H 'If-None-Match: "one"' $url/endless; echo $?
            """, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        #expect(outcome.output == "304\nwhole\n304\n4\n", "\(outcome)")
        #expect(outcome.talk.contains("/endless"), "\(outcome.talk)")
    }

    @Test("run --locked accepts the locked responses, requested once or twice, and exits with 5 for changed and for new ones")
    func holdsAgainstLocks() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            $larder record -o a.larder -- curl -sS -o x $url/a -o x $url/b
            $larder lock write a.larder > lock
            $larder run --locked lock -- curl -sS -o x $url/a -o x $url/a; echo $?
            $larder run --locked lock -- sh -c 'curl -sS -o x $url/new; exit 3'; echo $?
            $larder run --locked lock -- curl -sS -o x $url/new; echo $?
            sed -i 's/sha256:../sha256:00/' lock
            $larder run --locked lock -- curl -sS -o x $url/a; echo $?
            $larder run --locked missing -- echo run; echo $?
            """)
        #expect(outcome.output == "0\n3\n5\n5\n125\n", "\(outcome)")
        #expect(outcome.talk.contains("larder: differs from the lock: + GET \(stage.url)/new 200 sha256:"), "\(outcome.talk)")
        #expect(outcome.talk.contains("larder: differs from the lock: - GET \(stage.url)/a 200 sha256:00"), "\(outcome.talk)")
    }

    @Test("explain --replay shows the recording that matches, and how the nearest ones differ")
    func explains() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            $larder record -o a.larder -- sh -c 'curl -sS -o x $url/a; curl -sS -o x --json "{\\"n\\": 1}" $url/post'
            $larder explain --replay --layer a.larder $url/a
            $larder explain --replay --layer a.larder "$url/a?x=1" | sed -n 1,4p
            printf '{"n": 2}' > body
            $larder explain --replay --layer a.larder --method POST -H 'Content-Type: application/json' --data @body $url/post | grep JSON
            $larder explain --replay $url/a; echo $?
            """)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 7, "\(outcome)")
        #expect(lines[0] == "replayed: a.larder, generation 1, response 1 of 1: 200, 11 bytes")
        #expect(
            lines[1...4] == [
                "missed: not_recorded", "nearest:", "GET \(stage.url)/a", "  query parameter x: recorded nothing, requested 1",
            ])
        #expect(lines[5].contains("n: recorded 1, requested 2"), "\(lines)")
        #expect(lines[6] == "2" && outcome.talk.contains("nothing to replay"), "\(outcome)")
    }

    @Test(
        "Polling a job until it is done is replayed in order, completely for each of two simultaneous runs, and ends as configured"
    )
    func goesThroughSequences() throws {
        let outcome = try Stage().shell(
            """
            $larder record -o a.larder -- curl -sS -o x $url/job -o x $url/job -o x $url/job
            ask='for n in 1 2 3 4 5; do curl -sS $url/job | cut -c1-10; done'
            for number in 1 2; do $larder replay -q a.larder -- sh -c 'curl -sS $url/job $url/job; sleep 0.5; curl -sS $url/job' > $number & done
            wait
            cat 1 2
            for end in loop last error; do $larder replay -q --sequence-end $end a.larder -- sh -c "$ask" | tr '\\n' ' '; done
            """)
        let told = ["pending", "pending", "done"]
        #expect(
            outcome.output == String(repeating: told.map { "\($0)\n" }.joined(), count: 2)
                + "pending pending done pending pending pending pending done done done "
                + #"pending pending done {"type":"a {"type":"a "#,
            "\(outcome)")
    }

    @Test("snapshot create --from-cache makes a snapshot of the store, which is replayed like a recording")
    func takesFromTheStore() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            $larder run --store s.sqlite -- curl -sS -o x $url/a -o x $url/b
            $larder snapshot create --from-cache --store s.sqlite -o all.larder > /dev/null
            $larder snapshot create --from-cache --store s.sqlite -o some.larder "$url/b*" > /dev/null
            $larder snapshot ls some.larder
            $larder replay --strict all.larder -- curl -sS $url/a $url/b
            $larder snapshot create --from-cache --store none.sqlite -o none.larder; echo $?; ls none.larder*
            """)
        #expect(outcome.output == "1.0 200 11 GET \(stage.url)/b\nthis is /a\nthis is /b\n1\n", "\(outcome)")
        #expect(stage.origin.requestHeads.count == 2)
    }

    @Test(
        "A .larder folder here or above has the project's recording and policy; one that other users own or can write to is ignored"
    )
    func findsTheProject() throws {
        let outcome = try Stage().shell(
            """
            umask 022; mkdir -p project/.larder project/deep; cd project/deep
            echo 'rules: [{name: no, match: {path: "/no"}, deny: {reason: no}}]' > ../.larder/policy.yaml
            $larder record --strict -- curl -sS $url/a; ls ../.larder
            $larder replay --strict -- curl -sS $url/a
            $larder replay -q -- curl -sS -o x -w '%{http_code}\\n' $url/no
            $larder explain --replay $url/a | cut -d, -f 2-
            $larder record -o other.larder -- curl -sS -o x $url/b; ls other.larder
            for fault in o+w g+w; do
              chmod $fault ../.larder; $larder replay -- true; echo $?; chmod go-w ../.larder
            done
            chmod g+w ../.larder/policy.yaml; $larder replay -q -- curl -sS -o x -w '%{http_code}\n' $url/no
            if chown 65534 ../.larder 2> /dev/null; then $larder replay -- true; else echo '/.larder is ignored: the path belongs to another user' >&2; fi
            """)
        #expect(
            outcome.output == """
                this is /a
                policy.yaml
                recording.larder
                this is /a
                403
                 generation 1, response 1 of 1: 200, 11 bytes
                other.larder
                125
                125
                504

                """, "\(outcome)")
        for (name, fault) in [
            ("", "every user can write to the path"), ("", "the group can write to the path"),
            ("/policy.yaml", "the group can write to the path"),
            ("", "the path belongs to another user"),
        ] { #expect(outcome.talk.contains("/.larder\(name) is ignored: \(fault)\n"), "\(outcome.talk)") }
    }

    @Test("A snapshot that has expired is replayed with a warning, or not at all")
    func expires() throws {
        let outcome = try Stage().shell(
            """
            $larder record -o a.larder -- curl -sS -o x $url/a
            $larder snapshot export a.larder --text text > /dev/null
            sed -i 's/"started":[0-9]*/"started":1735787045000/' text/manifest.json
            $larder snapshot create --from-text text -o old.larder > /dev/null
            $larder replay --expires-after 30d a.larder -- curl -sS $url/a
            $larder replay --expires-after 30d old.larder -- curl -sS $url/a
            $larder replay --expires-after 30d --on-expired fail old.larder -- curl -sS $url/a; echo $?
            """)
        #expect(outcome.output == "this is /a\nthis is /a\n125\n", "\(outcome)")
        let told = "old.larder was recorded at 2025-01-02T03:04:05.000Z, and expired 30d later "
        #expect(outcome.talk.split(separator: "\n").count { $0.contains(told) } == 2, "\(outcome.talk)")
    }

    @Test(
        "With --on-expired refresh an expired snapshot is re-recorded, once; if that is impossible, nothing is sent, and it exits with 125"
    )
    func refreshesWhatHasExpired() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            curl -sS -o x $url/job -o x $url/job
            $larder record -o a.larder -- curl -sS -o x $url/job
            $larder snapshot export a.larder --text text > /dev/null
            sed -i 's/"started":[0-9]*/"started":1735787045000/' text/manifest.json
            $larder snapshot create --from-text text -o old.larder > /dev/null
            cp old.larder before; cp old.larder kept.larder; chmod 444 kept.larder
            refresh() { $larder replay --expires-after 30d --on-expired refresh "$@"; echo $?; }
            refresh a.larder -- curl -sS $url/job
            refresh kept.larder -- curl -sS $url/job
            refresh --as-of 1 old.larder -- curl -sS $url/job
            refresh --layer a.larder old.larder -- curl -sS $url/job
            refresh --signed-by key old.larder -- curl -sS $url/job
            refresh --strict old.larder -- curl -s -o x http://127.0.0.1:1/
            cmp old.larder before; ls | grep partial
            refresh --strict --unused old.larder -- curl -sS $url/job
            refresh --strict old.larder -- curl -sS $url/job
            $larder replay --as-of 1 old.larder -- curl -sS $url/job
            """)
        #expect(
            outcome.output == "done\n0\n125\n125\n125\n125\n4\npending\n0\npending\n0\ndone\n", "\(outcome)")
        #expect(stage.origin.requestHeads.count == 4)
        let age = "old.larder was recorded at 2025-01-02T03:04:05.000Z, and expired 30d later "
        #expect(outcome.talk.split(separator: "\n").count { $0.contains(age) && $0.contains("every request is forwarded") } == 2)
        for said in [
            "cannot be re-recorded: the file is read-only", "cannot be re-recorded: replay.as_of selects",
            "cannot be re-recorded: `replay.layers` lists more than one",
            "cannot be re-recorded: replay.signed_by requires a signature",
            "larder: 1 recorded in \(stage.folder.path)/old.larder\n", "larder: 1 replayed, 0 missed, 0 not requested\n",
            "no recording was replayed, so --unused lists nothing and --prune removes nothing",
        ] {
            #expect(outcome.talk.contains(said), "\(said) in \(outcome.talk)")
        }
    }

    @Test("--clock selects the clock that responses are dated by, and the time that the command sees")
    func tellsTheTime() throws {
        let outcome = try Stage().shell(
            """
            $larder record -o a.larder -- curl -sS -o x $url/dated
            $larder snapshot export a.larder --text text > /dev/null
            sed -i 's/"started":[0-9]*/"started":1795428000000/' text/manifest.json
            sed -i 's/^started .*/started 1795428000000/' text/recordings/*
            $larder snapshot create --from-text text -o then.larder > /dev/null
            for clock in recorded shift freeze; do
                $larder replay --clock $clock then.larder -- sh -c 'curl -sSi $url/dated | tr -d "\\r" \
                    | sed -n "s/^Date: //p; s/^Expires: //p; s/.*; Expires=\\(.*\\); Path.*/\\1/p"; date -u +%Y-%m-%dT%H:%M'
            done
            """)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        try #require(lines.count == 12, "\(outcome)")
        let recorded = ["Mon, 23 Nov 2026 10:00:00 GMT", "Mon, 23 Nov 2026 11:00:00 GMT", "Mon, 23-Nov-2026 12:00:00 GMT"]
        #expect(Array(lines[0...2]) == recorded && Array(lines[8...10]) == recorded)
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss zzz"
        let moved = try lines[4...6].map { try #require(format.date(from: $0), "\($0)") }
        #expect(abs(moved[0].timeIntervalSinceNow) < 600 && moved.map { $0.timeIntervalSince(moved[0]) } == [0, 3600, 7200])
        if !outcome.talk.contains("libfaketime is not installed") { #expect(lines[11].hasPrefix("2026-11-23T10:0")) }
    }

    @Test("With --clock freeze the intercepting certificates are dated by the command's clock, so that it accepts them")
    func isBelievedThen() throws {
        let stage = try RunInterceptionTests.Stage()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            $larder record -c larder.yaml -o a.larder -- curl -sS $url/a
            $larder snapshot export a.larder --text text > /dev/null
            sed -i 's/"started":[0-9]*/"started":1735787045000/' text/manifest.json
            $larder snapshot create --from-text text -o old.larder > /dev/null
            $larder replay -c larder.yaml --strict --clock freeze old.larder -- sh -c 'date -u +%Y; curl -sS $url/a; curl -sS $url/a'
            """, stage.user.merging(["url": stage.url]) { $1 })
        if outcome.talk.contains("libfaketime is not installed") { return }
        #expect(outcome.output == "/a2025\n/a/a", "\(outcome)")
    }
}
