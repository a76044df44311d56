import Foundation
import TestSupport
import Testing

@Suite(
    "larder record and larder replay in a network namespace (--netns)",
    .enabled(if: NetworkNamespace.canBeMade, "needs to make network namespaces"))
struct OwnNetworkTests {
    private final class Stage {
        let origin = ScriptedOrigin.answering { request, connection in connection.respond(body: "this is \(request.target)\n") }
        let folder: TemporaryFolder

        init() throws { folder = try TemporaryFolder() }
        deinit { origin.stop() }

        /// A script in which `$larder` is the binary, `$url` the origin, and `ignore` bypasses every proxy.
        func shell(_ script: String) throws -> CommandLineTests.Outcome {
            let ignore =
                "cat > $HOME/ignore <<'END'\n#!/bin/sh\ncurl -sS --noproxy '*' $url/past\nEND\nchmod +x $HOME/ignore; cd $HOME\n"
            return try CommandLineTests.shell(
                ignore + script, ["HOME": folder.path, "TMPDIR": folder.path, "url": "http://127.0.0.1:\(origin.port)"])
        }
    }

    @Test(
        "A program that ignores proxies gets out without --netns, but not with it; requests through Larder are recorded and replayed"
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

    @Test("The namespace is made in a user namespace if it cannot be made directly")
    func goesThroughUsers() throws {
        let stage = try Stage()
        let outcome = try stage.shell(
            """
            command -v setpriv > /dev/null && unshare -U true && test $(id -u) = 0 || { echo left out; exit; }
            setpriv --bounding-set=-sys_admin $larder record --netns -o job.larder -- sh -c 'curl -sS $url/a; id -u; ./ignore; echo $?'
            """)
        #expect(outcome.output == "left out\n" || outcome.output == "this is /a\n0\n7\n", "\(outcome)")
    }

    @Test("No name resolves in the namespace, and no descriptor leads out of it")
    func endsClearly() throws {
        let outcome = try Stage().shell(
            """
            exec 9> other
            $larder record --netns -o job.larder -- sh -c 'getent hosts example.com; echo $?; ls /proc/self/fd | wc -w'
            """)
        // The standard three, and the one for reading the folder.
        #expect(outcome.output == "2\n4\n", "\(outcome)")
    }

    @Test("A missing command, a file that is not a program and a script without a first line behave as without --netns")
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

    @Test("A library to preload is loaded into the command, but not into the helper")
    func tellsTheTime() throws {
        let outcome = try Stage().shell(
            """
            $larder record -o a.larder -- curl -sS -o x $url/a
            $larder replay --netns --clock freeze a.larder -- sh -c 'curl -sS $url/a; echo $LD_PRELOAD | wc -w'
            """)
        let isThere = !outcome.talk.contains("libfaketime is not installed")
        #expect(outcome.output == "this is /a\n\(isThere ? 1 : 0)\n", "\(outcome)")
    }

    @Test("If the namespace is refused, the reason is reported, the command does not run, and the exit code is 125")
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
                "larder: cannot create a network namespace for the command (--netns): unshare: No space left on device; user.max_net"
            ),
            "\(outcome.talk)")
    }

    /// Looks up names, for IPv6 and IPv4; connects to Larder by a name, bypassing every proxy.
    private static let lookUp = """
        port=${http_proxy##*:}; port=${port%/}
        getent hosts shop.example; getent ahostsv4 a.b.c | cut -d' ' -f1 | sort -u; getent ahostsv6 shop.example > /dev/null; echo $?
        curl -sS --noproxy '*' -w '%{remote_ip}\\n' http://shop.example:$port/ | grep -o 'not_a_proxy_request\\|127.0.0.1'
        """

    @Test("With --names listener every name resolves to the listener's address, and this machine's /etc/resolv.conf is unchanged")
    func answersNames() throws {
        let outcome = try Stage().shell(
            """
            cat > look <<'END'
            \(Self.lookUp)
            END
            before=$(cat /etc/resolv.conf)
            $larder record --netns --names listener -o a.larder -- sh -c '. ./look; cat /etc/resolv.conf; ls -d $TMPDIR/larder-run.* | wc -l'
            test "$before" = "$(cat /etc/resolv.conf)"; echo $?; ls $TMPDIR | grep -c larder-run
            $larder replay -q --netns a.larder -- getent hosts shop.example; echo $?
            """)
        let looked = "127.0.0.1       shop.example\n127.0.0.1\n2\nnot_a_proxy_request\n127.0.0.1\n"
        #expect(outcome.output == looked + "nameserver 127.0.0.1\n1\n0\n0\n2\n", "\(outcome)")
    }

    @Test("This also works for an ordinary user, and for one who may not make namespaces directly")
    func answersOrdinaryUsers() throws {
        let outcome = try Stage().shell(
            """
            cat > look <<'END'
            \(Self.lookUp)
            END
            mkdir user; chmod 755 . user; chown 65534:65534 user 2>/dev/null
            record='cd $HOME; $larder record --netns --names listener -o a.larder --overwrite -- sh -c ". ../look"'
            as() { setpriv "$@" env HOME=$HOME/user TMPDIR=$HOME/user sh -c "$record"; }
            user='--reuid=65534 --regid=65534 --clear-groups'
            command -v setpriv > /dev/null && setpriv $user test -x $larder -a -w user && setpriv $user unshare -Un true || { echo left out; exit; }
            as $user
            as --bounding-set=-sys_admin
            """)
        let looked = "127.0.0.1       shop.example\n127.0.0.1\n2\nnot_a_proxy_request\n127.0.0.1\n"
        #expect(outcome.output == "left out\n" || outcome.output == looked + looked, "\(outcome)")
    }

    @Test("After invalid DNS messages of any kind, queries are still answered")
    func staysUp() throws {
        let outcome = try Stage().shell(
            """
            cat > noise <<'END'
            use IO::Socket::INET; srand(7);
            for (1..2000) {
                my $socket = IO::Socket::INET->new(Proto => "udp", PeerAddr => "127.0.0.1:53") or die;
                $socket->send(join "", map { chr int rand 256 } 1..int rand 600);
            }
            END
            cat > streams <<'END'
            use IO::Socket::INET; $SIG{PIPE} = "IGNORE";
            my $query = "ab\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\1a\\0\\0\\1\\0\\1";
            IO::Socket::INET->new("127.0.0.1:53")->send($_) for ("", "a", "\\0\\0", "\\0\\1a", "\\377\\377" . "a" x 70000);
            my $socket = IO::Socket::INET->new("127.0.0.1:53");
            for (1..2) {
                $socket->send(pack "n/a*", $query);
                read $socket, my $length, 2; read $socket, my $answer, unpack "n", $length;
                print join(".", unpack "C4", substr $answer, -4), "\\n";
            }
            END
            $larder record --netns --names listener -o a.larder -- sh -c 'perl noise && getent hosts shop.example && perl streams'
            """)
        #expect(outcome.output == "127.0.0.1       shop.example\n127.0.0.1\n127.0.0.1\n", "\(outcome)")
    }

    @Test("If DNS queries cannot be answered, the reason is reported, the command does not run, and the exit code is 125")
    func tellsOfNamesRefused() throws {
        let outcome = try Stage().shell(
            """
            $larder record --names listener -o a.larder -- echo run; echo $?
            unshare -Ur true || { echo left out; exit; }
            unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_mnt_namespaces; $larder record --netns --names listener -o a.larder -- echo run; echo $?'
            """)
        #expect(outcome.talk.contains("--names listener needs --netns."))
        if outcome.output == "2\nleft out\n" { return }
        #expect(outcome.output == "2\n125\n", "\(outcome)")
        let said =
            "cannot mount files for the command in its network namespace: cannot create a mount namespace: No space left on device; user.max_mnt"
        #expect(outcome.talk.contains(said), "\(outcome.talk)")
    }
}
