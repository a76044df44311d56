import Foundation
import TestSupport
import Testing

@Suite(
    "larder record and larder replay in a network of its own (--netns)",
    .enabled(if: NetworkNamespace.canBeMade, "needs to make network namespaces"))
struct OwnNetworkTests {
    private final class Stage {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "this is \(request.target)\n") }
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }
        deinit { origin.stop() }

        /// A script in which `$larder` is the binary, `$url` the origin, and `ignore` asks it past every proxy.
        func shell(_ script: String) throws -> CommandLineTests.Outcome {
            let ignore =
                "cat > $HOME/ignore <<'END'\n#!/bin/sh\ncurl -sS --noproxy '*' $url/past\nEND\nchmod +x $HOME/ignore; cd $HOME\n"
            return try CommandLineTests.shell(
                ignore + script, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        }
    }

    @Test(
        "A program that ignores proxies leaves without it, and does not with it; what goes through Larder is recorded and replayed"
    )
    func keepsIn() throws {
        let stage = try Stage()
        let recorded = try stage.shell(
            """
            $larder record -o open.larder -- ./ignore; echo $?
            $larder record --netns --strict -o job.larder -- sh -c 'curl -sS $url/a; ./ignore; echo $?'
            """)
        #expect(recorded.output == "this is /past\n0\nthis is /a\n7\n", "\(recorded)")
        #expect(recorded.talk.contains("larder: 1 recorded in "), "\(recorded.talk)")
        let asked = stage.origin.requestHeads.count
        let replayed = try stage.shell(
            """
            $larder replay --netns --strict job.larder -- sh -c 'curl -sS $url/a; ./ignore; exit 3'
            echo $?
            """)
        #expect(replayed.output == "this is /a\n3\n", "\(replayed)")
        #expect(asked == 2 && stage.origin.requestHeads.count == 2)
    }

    @Test("It is made through a user namespace where it may not be made directly")
    func goesThroughUsers() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            command -v setpriv > /dev/null && unshare -U true && test $(id -u) = 0 || { echo left out; exit; }
            setpriv --bounding-set=-sys_admin $larder record --netns -o job.larder -- sh -c 'curl -sS $url/a; id -u; ./ignore; echo $?'
            """)
        #expect(outcome.output == "left out\n" || outcome.output == "this is /a\n0\n7\n", "\(outcome)")
    }

    @Test("No name is found in it, and no descriptor leads out of it")
    func endsClearly() throws {
        let outcome = try Stage().shell(
            """
            exec 9> other
            $larder record --netns -o job.larder -- sh -c 'getent hosts example.com; echo $?; ls /proc/self/fd | wc -w'
            """)
        // The standard three, and the one by which the folder is read.
        #expect(outcome.output == "2\n4\n", "\(outcome)")
    }

    @Test("A command that is missing, one that is no program and one without a first line are what they are without it")
    func handsCodesOn() throws {
        let outcome = try Stage().shell(
            """
            touch nothing; printf 'echo plain $1' > plain; chmod +x plain
            $larder record --netns -o a.larder -- ./missing; echo $?
            $larder record --netns -o b.larder -- ./nothing; echo $?
            $larder record --netns -o c.larder -- ./plain word; echo $?
            $larder record --netns -o d.larder -- sh -c 'kill -TERM $$'; echo $?
            """)
        #expect(outcome.output == "127\n126\nplain word\n0\n143\n", "\(outcome)")
    }

    @Test("What is loaded into the command is not loaded into what leads it into its network")
    func tellsTheTime() throws {
        let outcome = try Stage().shell(
            """
            $larder record -o a.larder -- curl -sS -o x $url/a
            $larder replay --netns --clock freeze a.larder -- sh -c 'curl -sS $url/a; echo $LD_PRELOAD | wc -w'
            """)
        let isThere = !outcome.talk.contains("libfaketime is not installed")
        #expect(outcome.output == "this is /a\n\(isThere ? 1 : 0)\n", "\(outcome)")
    }

    @Test("Where it is refused, that is said with the reason, the command does not run, and the exit code is 125")
    func tellsOfRefusal() throws {
        let outcome = try Stage().shell(
            """
            unshare -Ur true || { echo left out; exit; }
            unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_net_namespaces; $larder record --netns -o a.larder -- echo run; echo $?'
            """)
        if outcome.output == "left out\n" { return }
        #expect(outcome.output == "125\n", "\(outcome)")
        #expect(
            outcome.talk.contains(
                "larder: there can be no network of its own here (--netns): unshare: No space left on device\n"),
            "\(outcome.talk)")
    }
}
