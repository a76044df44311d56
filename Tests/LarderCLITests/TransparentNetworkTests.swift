import Foundation
import TestSupport
import Testing

@Suite(
    "Programs without proxies in larder run --netns",
    .enabled(if: NetworkNamespace.canBeMade, "needs to make network namespaces"))
struct TransparentNetworkTests {
    /// Larder's upstream proxy takes the place of every origin, so it sees all that leaves.
    private final class Stage {
        let upstream = ScriptedOrigin.answering { request, connection in
            guard request.target.hasPrefix("http://") else {
                return connection.respond("502 Bad Gateway")
            }
            return connection.respond(body: "this is \(request.target)\n")
        }
        let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
            let policy = """
                egress: {default: deny}
                upstream: {proxy: "http://127.0.0.1:\(upstream.port)"}
                rules:
                  - {name: allowed, match: {host: allowed.test}, allow: {}}
                  - {name: address, match: {host: 203.0.113.7}, allow: {}}
                  - {name: one path, match: {host: path.test, path: /a}, allow: {}}
                """
            try policy.write(toFile: "\(folder.path)/policy.yaml", atomically: true, encoding: .utf8)
        }
        deinit { upstream.stop() }

        /// What left, in order.
        var sent: [String] {
            upstream.requestHeads.map { head in
                let request = OriginRequest(head: head)
                return "\(request.method) \(request.target)"
            }
        }

        /// Runs a script, in which `get` is curl without any variable, by `larder run --netns`.
        /// - Parameter before: may set `as` to a command by which another user runs it.
        func inside(_ options: String, _ script: String, before: String = "") throws -> CommandLineTests.Outcome {
            let get = "get() { env -i \"$(command -v curl)\" -sS --max-time 60 \"$@\"; }\n"
            return try CommandLineTests.shell(
                """
                cd $HOME
                cat > script <<'END'
                \(get)\(script)
                END
                \(before)
                $as $larder run --netns --policy policy.yaml --store :memory: --log log \(options) -- sh ./script
                echo "exit code $?"
                """, ["HOME": folder.path, "TMPDIR": folder.path])
        }

        func log() throws -> String { try String(contentsOfFile: "\(folder.path)/log", encoding: .utf8) }
    }

    @Test("A program without variables reaches the hosts that a rule allows, and the log marks its requests; the proxy works too")
    func servesHTTP() throws {
        let stage = try Stage()
        let outcome = try stage.inside(
            "",
            """
            get http://allowed.test/a
            curl -sS http://allowed.test/b
            get http://203.0.113.7/c
            """)
        let pages = ["allowed.test/a", "allowed.test/b", "203.0.113.7/c"].map { "this is http://\($0)\n" }
        #expect(outcome.output == pages.joined() + "exit code 0\n", "\(outcome)")
        let lines = try stage.log().split(separator: "\n")
        #expect(lines.map { $0.contains(#""transparent":true"#) } == [true, false, true], "\(lines)")
        #expect(stage.sent == ["GET http://allowed.test/a", "GET http://allowed.test/b", "GET http://203.0.113.7/c"])
    }

    @Test("A name, an address and a port that no rule allows fail at once, and nothing leaves")
    func refusesOthers() throws {
        let stage = try Stage()
        let outcome = try stage.inside(
            "--summary",
            """
            get http://denied.test/; echo $?
            get https://denied.test/; echo $?
            get http://203.0.113.8/ | grep -o egress_denied
            get https://203.0.113.8/; echo $?
            get 'http://[2001:db8::1]/' -o ipv6; echo $?
            get http://allowed.test:81/; echo $?
            get http://198.18.77.77/; echo $?
            perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Proto => "udp", PeerAddr => "203.0.113.7:443"); $s->send("x"); $s->recv($x, 1); print "$!\\n"'
            """)
        let codes = outcome.output.split(separator: "\n").map(String.init)
        #expect(codes.count == 9 && codes[..<4] == ["6", "6", "egress_denied", "35"], "\(outcome)")
        // Without IPv6 there is no route to it.
        #expect(["0", "7"].contains(codes[4]), "\(outcome)")
        #expect(codes[5] == "7" && ["7", "56"].contains(codes[6]) && codes[7] == "Connection refused", "\(outcome)")
        #expect(outcome.talk.contains("larder: no rule allows requests to these hosts: denied.test\n"), "\(outcome.talk)")
        #expect(outcome.talk.contains("denied (egress_denied): CONNECT 203.0.113.8:443"), "\(outcome.talk)")
        #expect(stage.sent.isEmpty)
    }

    @Test("A request must name the host whose address the client connected to, in the Host field or in the ClientHello")
    func refusesOtherNames() throws {
        let stage = try Stage()
        let script = """
            get -H 'Host: path.test' http://allowed.test/ | grep -o misdirected_request
            get -H 'Host: allowed.test' http://203.0.113.7/ | grep -o misdirected_request
            get --connect-to path.test:443:allowed.test:443 https://path.test/; echo $?
            get --connect-to allowed.test:443:203.0.113.7:443 https://allowed.test/; echo $?
            """
        for options in ["", "--no-intercept"] {
            let outcome = try stage.inside(options, script)
            #expect(outcome.output == "misdirected_request\nmisdirected_request\n35\n35\nexit code 0\n", "\(options): \(outcome)")
        }
        // A tunnel is opened before its ClientHello is known, to the host that the rule allows; nothing is sent in it.
        #expect(stage.sent.allSatisfy { ["CONNECT allowed.test:443", "CONNECT 203.0.113.7:443"].contains($0) }, "\(stage.sent)")
    }

    @Test("https is intercepted under the rules, without a variable that names the CA, and is tunnelled with --no-intercept")
    func servesTLS() throws {
        guard FileManager.default.fileExists(atPath: "/etc/ssl/certs/ca-certificates.crt") else { return }
        let stage = try Stage()
        let intercepted = try stage.inside("", "get https://path.test/b | grep -o egress_denied")
        #expect(intercepted.output == "egress_denied\nexit code 0\n", "\(intercepted)")
        #expect(stage.sent.isEmpty)
        let tunnelled = try stage.inside("--no-intercept", "get https://allowed.test/; echo $?; get https://path.test/a; echo $?")
        #expect(tunnelled.output == "35\n35\nexit code 0\n", "\(tunnelled)")
        #expect(stage.sent == ["CONNECT allowed.test:443"])
    }

    @Test("The name server is at every address, over UDP and TCP, and answers from the address of the query")
    func answersEverywhere() throws {
        let outcome = try Stage().inside(
            "",
            #"""
            cat > ask.pl <<'PERL'
            use IO::Socket::INET;
            my $query = "ab\1\0\0\1\0\0\0\0\0\0\7allowed\4test\0\0\1\0\1";
            for my $server ("8.8.8.8", "127.0.0.53") {
                my $socket = IO::Socket::INET->new(Proto => "udp", PeerAddr => "$server:53") or die;
                $socket->send($query); $socket->recv(my $answer, 512);
                print join(".", unpack "C4", substr $answer, -4), "\n";
                $socket = IO::Socket::INET->new("$server:53") or die;
                $socket->send(pack "n/a*", $query);
                read $socket, my $length, 2; read $socket, $answer, unpack "n", $length;
                print join(".", unpack "C4", substr $answer, -4), "\n";
            }
            PERL
            perl ask.pl; cat /etc/resolv.conf
            """#)
        #expect(
            outcome.output == String(repeating: "198.18.0.1\n", count: 4) + "nameserver 127.0.0.1\nexit code 0\n", "\(outcome)")
    }

    @Test("An ordinary user has the same network, and keeps its identity")
    func servesOrdinaryUsers() throws {
        let stage = try Stage()
        let outcome = try stage.inside(
            "", "id -u; get http://allowed.test/a; get http://denied.test/; echo $?",
            before: """
                chmod 777 .; chmod 644 policy.yaml script
                as='setpriv --reuid=65534 --regid=65534 --clear-groups'
                command -v setpriv > /dev/null && $as test -x $larder -a -w . && $as unshare -Un true || { echo left out; exit; }
                """)
        #expect(
            outcome.output == "left out\n" || outcome.output == "65534\nthis is http://allowed.test/a\n6\nexit code 0\n",
            "\(outcome)")
    }

    @Test("Root cannot enter the network of another process")
    func keepsRootIn() throws {
        let outcome = try Stage().inside(
            "", "for process in 1 $PPID; do nsenter --net=/proc/$process/ns/net true 2> /dev/null && echo out; done; echo in")
        #expect(outcome.output == "in\nexit code 0\n", "\(outcome)")
    }

    @Test("The command's exit code or signal is reported as by larder run, and the command has standard input")
    func handsCodesOn() throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            cd $HOME
            echo word | $larder run --netns -- cat; $larder run --netns -- sh -c 'exit 3'; echo $?
            $larder run --netns -- sh -c 'kill -TERM $$'; echo $?; $larder run --netns -- ./missing; echo $?
            $larder run --netns --join -- true; echo $?
            """, ["HOME": folder.path, "TMPDIR": folder.path])
        #expect(outcome.output == "word\n3\n143\n127\n2\n", "\(outcome)")
    }

    @Test("--strict exits with 4 if the command looked up a name that no rule allows")
    func countsNames() throws {
        let outcome = try Stage().inside("--strict", "getent hosts denied.test; true")
        #expect(outcome.output == "exit code 4\n" && outcome.talk.contains("names denied (--strict)"), "\(outcome)")
    }

    @Test("--strict exits with 4 if a request named a different host than its address does")
    func countsMisdirected() throws {
        let outcome = try Stage().inside(
            "--strict --summary", "get -o page -w '%{http_code}\\n' -H 'Host: path.test' http://allowed.test/")
        #expect(outcome.output == "421\nexit code 4\n", "\(outcome)")
        #expect(outcome.talk.contains("denied (misdirected_request): GET http://allowed.test/\n"), "\(outcome.talk)")
    }

    @Test("A raw address in its IPv4-mapped form is the IPv4 address, for the rules and in the Host field")
    func readsMappedAddresses() throws {
        let stage = try Stage()
        let outcome = try stage.inside(
            "",
            """
            test -e /proc/net/if_inet6 || { echo left out; exit; }
            get 'http://[::ffff:203.0.113.7]/c'
            get 'http://[::ffff:203.0.113.8]/' | grep -o egress_denied
            get 'https://[::ffff:203.0.113.8]/' || echo $?
            """)
        let isLeftOut = outcome.output == "left out\nexit code 0\n"
        #expect(
            isLeftOut || outcome.output == "this is http://203.0.113.7/c\negress_denied\n35\nexit code 0\n", "\(outcome)")
        #expect(isLeftOut || stage.sent == ["GET http://203.0.113.7/c"], "\(stage.sent)")
    }

    @Test("Over IPv6, the name server answers from the address of the query; other types of a denied name have the same answer")
    func answersEachType() throws {
        let outcome = try Stage().inside(
            "--strict",
            #"""
            cat > ask.pl <<'PERL'
            use IO::Socket::IP; use Socket qw(AI_NUMERICHOST SOCK_DGRAM);
            sub ask {
                my ($server, $name, $type) = @_;
                my $socket = IO::Socket::IP->new(
                    Proto => "udp", PeerHost => $server, PeerPort => 53, Type => SOCK_DGRAM, GetAddrInfoFlags => AI_NUMERICHOST
                ) or die "$server: $@";
                $socket->send(pack("n6", 7, 256, 1, 0, 0, 0) . join("", map { pack "C/a*", $_ } split /\./, $name) . pack("xn2", $type, 1));
                $socket->recv(my $answer, 512);
                my (undef, $flags, undef, $count) = unpack "n4", $answer;
                return "$name $type: code " . ($flags & 15) . ", $count records\n";
            }
            # A connected socket receives from that address only.
            print -e "/proc/net/if_inet6" ? ask("2001:db8::53", "allowed.test", 1) : "left out\n";
            print ask("8.8.8.8", $_->[0], $_->[1]) for ["allowed.test", 15], ["denied.test", 15], ["_http._tcp.allowed.test", 33];
            PERL
            perl ask.pl; get -o page http://allowed.test/a
            """#)
        let others =
            "allowed.test 15: code 0, 0 records\ndenied.test 15: code 3, 0 records\n_http._tcp.allowed.test 33: code 3, 0 records\n"
        // A query about other records is no attempt to connect, so --strict accepts it.
        let ends = ["allowed.test 1: code 0, 1 records\n", "left out\n"].map { $0 + others + "exit code 0\n" }
        #expect(ends.contains(outcome.output), "\(outcome)")
    }

    @Test("If the namespace is refused, the reason is reported, the command does not run, and the exit code is 125")
    func tellsOfRefusal() throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            unshare -Ur true || { echo left out; exit; }
            unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_net_namespaces; $larder run --netns -- echo run; echo $?'
            unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_mnt_namespaces; $larder run --netns -- echo run; echo $?'
            unshare -Ur sh -c 'echo 0 > /proc/sys/user/max_user_namespaces; $larder run --netns -- echo run; echo $?'
            """, ["HOME": folder.path, "TMPDIR": folder.path])
        if outcome.output == "left out\n" { return }
        #expect(outcome.output == "125\n125\n125\n", "\(outcome)")
        for kind in ["net", "mnt", "user"] {
            let remedy = "user.max_\(kind)_namespaces is 0: `sysctl -w user.max_\(kind)_namespaces=10000`, as root, allows them\n"
            #expect(outcome.talk.contains("No space left on device; \(remedy)"), "\(outcome.talk)")
        }
    }
}
