import Foundation
import TestSupport
import Testing

@Suite("larder project, and the settings of a cloned project")
struct ProjectTests {
    private final class Stage {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "this is \(request.target)\n") }
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }

        deinit { origin.stop() }

        /// A script in the project `$HOME/shop`, which has a recording of `$url/a` and these settings.
        func shell(_ script: String) throws -> CommandLineTests.Outcome {
            let before =
                """
                umask 022; mkdir -p $HOME/shop/.larder; cd $HOME/shop
                test -f .larder/recording.larder || $larder record -- curl -sS -o x $url/a 2> said
                policy() { printf '%s\\n' "$1" > .larder/policy.yaml; }
                replay() { $larder replay -q "$@" -- curl -sS -o x -w '%{http_code}\\n' $url/a; echo "exit $?"; }

                """
            return try CommandLineTests.shell(
                before + script,
                [
                    "HOME": folder.path, "TMPDIR": folder.path, "XDG_STATE_HOME": "\(folder.path)/state",
                    "url": "http://127.0.0.1:\(origin.port)",
                ])
        }
    }

    private static let hostile = "egress: {addresses: {deny: []}}"

    @Test("A project's harmless settings are used, and that is reported on standard error")
    func usesHarmlessOnes() throws {
        let outcome = try Stage().shell(
            "policy 'rules: [{name: no, match: {path: /a}, deny: {reason: no}}]'; replay --no-strict; replay --no-strict --project-settings=deny"
        )
        #expect(outcome.output == "403\nexit 0\n200\nexit 0\n", "\(outcome)")
        let policy = "\(outcome.talk.split(separator: "\n").first ?? "")"
        #expect(
            policy.hasPrefix("larder: settings of this project are active: /")
                && policy.hasSuffix("/shop/.larder/policy.yaml (rules)"), "\(outcome)")
        #expect(outcome.talk.contains("/shop/.larder/policy.yaml is ignored (--project-settings=deny)\n"), "\(outcome)")
    }

    @Test("A clone's other settings are refused with file, line, column, key and the next step, and no request is sent")
    func refusesMore() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            policy '\(Self.hostile)'; replay
            $larder record -o new.larder -- curl -sS $url/b; echo "exit $?"
            policy 'replay: {expires_after: 1ms, on_expired: refresh}'; replay
            policy 'rules: [{name: a, mode: live}]'; replay
            policy 'rules: [{name: a, response: {set: {Location: "http://127.0.0.1:1/"}}}]'; replay
            """)
        #expect(outcome.output == "exit 125\nexit 125\nexit 125\nexit 125\nexit 125\n", "\(outcome)")
        #expect(stage.origin.requestHeads.count == 1)
        for problem in [
            "policy.yaml:1:28: egress.addresses.deny: a project may not set this: this setting of a project needs your decision; read the file, then run `larder project allow` (or",
            "policy.yaml:1:42: replay.on_expired: a project may not set this: `refresh` forwards every request;",
            "policy.yaml:1:25: rules: a project may not set this: the rule `a` forwards requests, but the command only replays;",
            "policy.yaml:1:29: rules: a project may not set this: the rule `a` changes responses, and a changed response can send the client to another server;",
        ] { #expect(outcome.talk.contains("/shop/.larder/\(problem)"), "\(outcome.talk)") }
    }

    @Test("A clone cannot have values recorded whose names indicate secrets")
    func keepsSecretsOutOfRecordings() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            policy 'record: {match: match.json}'; echo '{"secrets": {"public": ["token"]}}' > .larder/match.json
            record() { $larder record --overwrite "$@" -- curl -sS -o x "$url/b?token=q7Zp-81xLm-44"; echo "exit $?"; }
            record; record --project-settings=allow
            echo '{"secrets": {"query": ["who"]}}' > .larder/match.json; record
            """)
        #expect(outcome.output == "exit 125\nexit 0\nexit 0\n", "\(outcome)")
        #expect(stage.origin.requestHeads.count == 3)
        let refusal =
            ".larder/policy.yaml:1:17: record.match: a project may not set this: match.json contains secrets.public, which "
            + "stores secrets unchanged; read the file, then run `larder project allow` (or use --project-settings=allow)\n"
        #expect(outcome.talk.contains(refusal), "\(outcome.talk)")
    }

    @Test("A decision holds for the present files: any changed, added or removed byte needs a new one")
    func holdsForTheFiles() throws {
        let outcome = try Stage().shell(
            """
            policy '\(Self.hostile)'; echo more > .larder/more
            $larder project allow | sed 's/(.*//;s,/.*/shop,/shop,'
            stat -c '%a %F' $XDG_STATE_HOME/larder $XDG_STATE_HOME/larder/projects
            replay
            echo more >> .larder/more; replay
            echo more > .larder/more; replay
            mkdir .larder/deep; echo > .larder/deep/new; replay; rm -r .larder/deep; replay
            mv .larder/more .larder/less; replay; mv .larder/less .larder/more
            policy '\(Self.hostile) '; replay; policy '\(Self.hostile)'; replay
            $larder project deny > /dev/null; replay
            echo >> .larder/policy.yaml; replay
            $larder project allow > /dev/null; $larder record --overwrite -- curl -sS -o x $url/a; replay
            """)
        #expect(
            outcome.output == """
                allowed: /shop/.larder/policy.yaml\u{20}
                700 directory
                600 regular file
                200
                exit 0
                exit 125
                200
                exit 0
                exit 125
                200
                exit 0
                exit 125
                exit 125
                200
                exit 0
                200
                exit 0
                exit 125
                200
                exit 0

                """, "\(outcome)")
        #expect(outcome.talk.contains("policy.yaml (larder project allow)\n"), "\(outcome.talk)")
        #expect(
            outcome.talk.contains("policy.yaml: the project's files have changed since you allowed or denied them\n"),
            "\(outcome.talk)")
        #expect(outcome.talk.contains("policy.yaml is ignored (larder project deny)\n"), "\(outcome.talk)")
    }

    @Test("A decision is for one folder; a copy of it, and a symbolic link to it, have none")
    func isForOneFolder() throws {
        let outcome = try Stage().shell(
            """
            policy '\(Self.hostile)'; $larder project allow > /dev/null
            mkdir ../copy ../link; cp -r .larder ../copy; ln -s ../shop/.larder ../link/.larder
            cd ../copy; replay
            cd ../link; replay
            cd ../shop; mkdir deep; cd deep; replay
            """)
        #expect(outcome.output == "exit 125\nexit 125\n200\nexit 0\n", "\(outcome)")
        #expect(outcome.talk.contains("/link/.larder is ignored: the path is a symbolic link\n"), "\(outcome.talk)")
    }

    @Test("CI passes --project-settings: allow uses all, deny none, regardless of decisions")
    func takesTheOption() throws {
        let outcome = try Stage().shell(
            """
            policy '\(Self.hostile)'
            replay --project-settings=allow; replay --project-settings=deny; replay --project-settings=auto
            $larder project deny > /dev/null; replay --project-settings=allow
            ls $XDG_STATE_HOME/larder/projects > /dev/null && replay --project-settings=no
            """)
        #expect(outcome.output == "200\nexit 0\n200\nexit 0\nexit 125\n200\nexit 0\nexit 2\n", "\(outcome)")
    }

    @Test("No decision is possible for folders with links, pipes, too many or too long files, or for missing folders")
    func refusesFolders() throws {
        let outcome = try Stage().shell(
            """
            decide() { $larder project allow > /dev/null; echo $?; }
            decide
            policy '\(Self.hostile)'
            ln -s /etc/passwd .larder/link; decide; rm .larder/link
            mkfifo .larder/pipe; decide; rm .larder/pipe
            for n in $(seq 1001); do : > .larder/$n; done; decide; rm .larder/[0-9]*
            truncate -s 65M .larder/long; decide; rm .larder/long
            mkdir -p .larder/1/2/3/4/5/6/7/8/9; decide; rm -r .larder/1
            mv .larder/policy.yaml .larder/other; ln -s other .larder/policy.yaml; replay; rm .larder/policy.yaml
            head -c 1100000 /dev/zero | tr '\\0' '#' > .larder/policy.yaml; replay; decide
            policy 'limits: {fields: 50}'; $larder project allow shpo; echo $?; $larder project deny .larder/policy.yaml; echo $?
            cd ..; $larder project status; echo $?
            """)
        #expect(outcome.output == "1\n1\n1\n1\n1\n1\n200\nexit 0\nexit 125\n1\n1\n1\n1\n", "\(outcome)")
        #expect(outcome.talk.contains("larder: shpo: the folder does not exist\n"), "\(outcome.talk)")
        for reason in [
            "has no settings: it contains no policy.yaml",
            "/link is a symbolic link, and the file that it points to may change",
            "/pipe is not a regular file",
            "the project has more than 1000 files", "/long: the file is longer than", "is nested more than 8 levels deep",
            "policy.yaml is ignored: the path is a symbolic link", "longer than 1MiB", "no .larder folder in",
        ] { #expect(outcome.talk.contains(reason), "\(reason): \(outcome.talk)") }
    }

    @Test("Decisions that other users may have written, and damaged ones, allow nothing")
    func distrustsDecisions() throws {
        let outcome = try Stage().shell(
            """
            policy '\(Self.hostile)'; $larder project allow > /dev/null; file=$XDG_STATE_HOME/larder/projects
            chmod 620 $file; replay; $larder project deny; echo $?; chmod 600 $file; replay
            echo '{}' >> $file; replay
            mv $file kept; ln -s $PWD/kept $file; replay
            """)
        #expect(outcome.output == "exit 125\n1\n200\nexit 0\nexit 125\nexit 125\n", "\(outcome)")
        #expect(
            outcome.talk.contains("/projects; check its contents, then run `chmod 600` on it")
                && outcome.talk.contains("/projects:2: not a valid decision"), "\(outcome.talk)")
    }

    @Test("status shows the decision and the settings that need one")
    func showsItsStatus() throws {
        let outcome = try Stage().shell(
            """
            status() { $larder project status | sed 's, /.*/shop, /shop,'; }
            status; policy '\(Self.hostile)'; status
            $larder project allow > /dev/null; status
            policy 'limits: {fields: 50}'; status
            $larder project deny > /dev/null; status
            """)
        let settings = "folder    /shop/.larder\nsettings  /shop/.larder/policy.yaml\ndecision  "
        let setting = "/shop/.larder/policy.yaml:1:28: egress.addresses.deny"
        let needed =
            "\(setting): a project may not set this: this setting of a project needs your decision; read the file, then run `larder project allow` (or use --project-settings=allow)\n"
        #expect(
            outcome.output
                == "folder    /shop/.larder\nsettings  none\n\(settings)none\nrefused   \(needed)\(settings)allowed\nallowed   \(setting)\n"
                + "\(settings)none; the project's files have changed since your last decision\n\(settings)denied\n", "\(outcome)")
    }

    @Test("A command that changes its project's settings and reloads them gains no permissions")
    func checksReloads() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            policy 'limits: {fields: 50}'
            $larder replay --no-strict -q -- sh -c 'echo "\(Self.hostile)" > .larder/policy.yaml; $larder reload; echo $?; curl -sS -o x -w "%{http_code}\\n" $url/b'
            """)
        #expect(outcome.output == "2\n504\n", "\(outcome)")
        #expect(stage.origin.requestHeads.count == 1)
    }
}
