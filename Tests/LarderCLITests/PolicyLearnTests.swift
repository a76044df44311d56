import Foundation
import TestSupport
import Testing

@Suite("larder policy learn")
struct PolicyLearnTests {
    private final class Stage {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: request.target) }
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        deinit { origin.stop() }

        func shell(_ script: String) throws -> CommandLineTests.Outcome {
            try CommandLineTests.shell(
                "cd $HOME; \(script)",
                ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)", "port": "\(origin.port)"])
        }
    }

    @Test("The same command passes under the policy that was learned from it; every other request is denied and not forwarded")
    func learnsFromACommand() throws {
        let stage = try Stage()
        let learned = try stage.shell(
            """
            $larder policy learn -o policy.yaml -- curl -sS $url/app/status $url/app/file-1.2.3.tar.gz; echo " $?"
            $larder config check -c policy.yaml
            $larder run --policy policy.yaml --strict -- curl -sS $url/app/status $url/app/file-1.4.0.tar.gz; echo " $?"
            """)
        #expect(
            learned.output
                == "/app/status/app/file-1.2.3.tar.gz 0\npolicy.yaml: good, 1 rule\n/app/status/app/file-1.4.0.tar.gz 0\n",
            "\(learned)")
        #expect(learned.talk.contains("larder: wrote 1 rule from 2 requests to policy.yaml\n"), "\(learned.talk)")
        let forwarded = stage.origin.requestHeads.count
        let denied = try stage.shell(
            """
            for request in "GET $url/app/other" "GET $url/app/other-1.2.3.tar.gz" "POST $url/app/status" "GET http://localhost:$port/app/status" \
                "GET $url/app/status/more" "GET $url/"; do
                $larder run --policy policy.yaml --strict -- curl -sS -o /dev/null -w '%{http_code} ' -X $request 2> /dev/null; echo $?
            done
            """)
        #expect(denied.output == String(repeating: "403 4\n", count: 6), "\(denied)")
        #expect(stage.origin.requestHeads.count == forwarded)
    }

    @Test("The user's own rules deny nothing while a policy is learned")
    func allowsEverything() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            printf '%s\\n' 'egress: {default: deny}' 'rules: [{name: none, deny: {}}]' > larder.yaml
            $larder policy learn -c larder.yaml -o policy.yaml -- curl -sS $url/a; echo " $?"
            $larder run --policy policy.yaml --strict -- curl -sS $url/a; echo " $?"
            """)
        #expect(outcome.output == "/a 0\n/a 0\n", "\(outcome)")
    }

    @Test(
        "A secret is replaced by a star, however much of it is encoded",
        arguments: ["ghp_TOKEN", "%67hp_TOKEN", "g%2568p_TOKEN", "%zz%67hp_TOKEN", "a%2Fghp_TOKEN%3F"])
    func masksSecrets(form: String) throws {
        let stage = try Stage()
        let token = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
        let url = "http://h.example/hooks/\(form.replacing("TOKEN", with: token))/send"
        _ = try stage.folder.write(#"{"cache":"miss","method":"GET","url":"\#(url)","status":200}"# + "\n", to: "access.log")
        let learned = try stage.shell("$larder policy learn --from-log access.log")
        #expect(learned.code == 0 && learned.output.contains("- /hooks/*/send"), "\(learned)")
        #expect(!learned.output.contains(token.prefix(12)), "\(learned.output)")
    }

    @Test("A file is replaced only with --force, and no command runs before that is known")
    func keepsFiles() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            echo mine > policy.yaml
            $larder policy learn -o policy.yaml -- curl -sS $url/a; echo "$?"; cat policy.yaml
            $larder policy learn --force -o policy.yaml -- curl -sS $url/a; echo " $?"; grep -c 'allow: {}' policy.yaml
            """)
        #expect(outcome.output == "1\nmine\n/a 0\n1\n", "\(outcome)")
        #expect(outcome.talk.contains("larder: policy.yaml exists; --force replaces it\n"))
        #expect(stage.origin.requestHeads.count == 1)
    }

    @Test("An access log and a recording give the same policy as the command, and the policy is printed")
    func learnsFromFiles() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            $larder run --log access.log -- curl -sS -o a $url/app/one -o b "$url/app/two?x=1"
            $larder record -o a.larder -- curl -sS -o a $url/app/one -o b "$url/app/two?x=1"
            $larder policy learn --from-log access.log > log.yaml; echo $?
            $larder policy learn --from-snapshot a.larder > snapshot.yaml; echo $?
            $larder policy learn -o command.yaml -- curl -sS -o a $url/app/one -o b "$url/app/two?x=1"; echo $?
            cmp log.yaml snapshot.yaml && cmp log.yaml command.yaml && grep -c 'two$' log.yaml
            """)
        #expect(outcome.output == "0\n0\n0\n1\n", "\(outcome)")
    }

    @Test("Lines of a log that are not in its format are counted, and nothing is learned from a log without requests")
    func readsLogs() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            printf '%s\\n' 'no JSON' '{"method":"GET","url":"http://h.example/a","status":403,"cache":"denied"}' > denied.log
            $larder policy learn --from-log denied.log; echo $?
            printf '%s\\n' '{"method":"GET","url":"http://h.example/a","status":200,"cache":"miss"}' >> denied.log
            $larder policy learn --from-log - < denied.log | grep -c allow:; echo $?
            $larder policy learn --from-log missing.log; echo $?
            """)
        #expect(outcome.output == "1\n1\n0\n1\n", "\(outcome)")
        #expect(
            outcome.talk.contains("larder: denied.log: skipped lines that are not in the format ndjson: 1\n"), "\(outcome.talk)")
        #expect(outcome.talk.contains("larder: there is no request to learn from\n"), "\(outcome.talk)")
        #expect(outcome.talk.contains("larder: 1 request was denied, so no rule was learned from it\n"), "\(outcome.talk)")
        #expect(outcome.talk.contains("cannot read the log missing.log: No such file or directory"), "\(outcome.talk)")
    }

    @Test("A secret in a URL is not in the policy, which still allows the request")
    func hidesSecrets() throws {
        let stage = try Stage()
        let token = "ghp_" + String(repeating: "a1B2", count: 9)
        let outcome = try stage.shell(
            """
            $larder policy learn -o policy.yaml -- curl -sS -o a "$url/hooks/\(token)/send?key=\(token)"; echo $?
            $larder run --policy policy.yaml --strict -- curl -sS -o a "$url/hooks/\(token)/send"; echo $?
            grep -c ghp_ policy.yaml; grep -- '- /hooks' policy.yaml
            """)
        #expect(outcome.output.hasPrefix("0\n0\n0\n        - /hooks/*/send"), "\(outcome)")
    }

    @Test("The command's own exit code is returned, and a policy for its requests is written")
    func handsTheCodeOn() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            $larder policy learn -o policy.yaml -- sh -c "curl -sS $url/a; exit 3"; echo " $?"
            $larder config check -c policy.yaml; $larder policy learn -o none.yaml -- sh -c "exit 3"; echo $?; ls none.yaml
            """)
        #expect(outcome.output == "/a 3\npolicy.yaml: good, 1 rule\n3\n", "\(outcome)")
    }

    @Test(
        "Wrong usage is reported",
        arguments: [
            ("", "Give one source"), ("--from-log a --from-snapshot b", "Give one source"), ("-- true", "Give a file"),
            ("--max-rules 0 --from-log a", "--max-rules must be at least 1"),
        ])
    func rejectsWrongUsage(words: String, message: String) throws {
        let outcome = try Stage().shell("$larder policy learn \(words)")
        #expect(outcome.code == 2 && outcome.talk.contains(message), "\(outcome)")
    }

    @Test(
        """
        pip, git and a curl script run under the policies that they taught; 1,000 other requests, half of them to the learned hosts, are denied and \
        reach no server
        """)
    func holdsForRealClients() throws {
        let outcome = try LongScripts.runShort("policy-learn.sh")
        if outcome.output.hasPrefix("left out: it needs") { return }
        #expect(outcome.code == 0 && outcome.output.contains("ok      1000 other requests are denied"), "\(outcome)")
    }
}
