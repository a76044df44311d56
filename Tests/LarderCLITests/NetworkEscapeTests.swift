import Foundation
import TestSupport
import Testing

@Suite(
    "Ways out of the network namespace of larder run --netns that are closed",
    .enabled(if: NetworkNamespace.canBeMade, "needs to make network namespaces"))
struct NetworkEscapeTests {
    /// A test's processes block signals, so the scripts end theirs by SIGKILL. Runs a script in which `inside FILE` runs a script file by `larder run --netns`, after `as`, which may name another user. The files are
    /// written by `file NAME`, from standard input.
    private static func shell(_ script: String, _ folder: TemporaryFolder) throws -> CommandLineTests.Outcome {
        try CommandLineTests.shell(
            """
            cd $HOME
            file() { cat > $1; chmod 644 $1; }
            inside() { $as $larder run --netns --store :memory: -- sh ./$1; }
            user='setpriv --reuid=65534 --regid=65534 --clear-groups'
            # Sets `as` to an ordinary user, or fails if there is none who may make namespaces.
            become() { chmod 777 .; as="$user"; $user test -x $larder -a -w . 2> /dev/null && $user unshare -Un true 2> /dev/null; }
            \(script)
            """, ["HOME": folder.path, "TMPDIR": folder.path])
    }

    @Test("Root that becomes another user cannot read or trace that user's processes outside, nor enter their networks")
    func separatesUsers() throws {
        let outcome = try Self.shell(
            """
            test $(id -u) = 0 && command -v setpriv > /dev/null || { echo left out; exit; }
            $user tail -f /dev/null &
            file script <<END
            setpriv --reuid=65534 --regid=65534 --clear-groups sh -c 'id -u; cat /proc/$!/maps /proc/$!/environ; nsenter --net=/proc/$!/ns/net true'
            echo \\$?; cat /proc/$!/maps; nsenter --net=/proc/$!/ns/net true; echo \\$?
            touch own; chown 65534:65534 own; stat -c %u:%g own
            END
            inside script
            kill -KILL $!
            """, try TemporaryFolder())
        #expect(outcome.output == "left out\n" || outcome.output == "65534\n1\n1\n65534:65534\n", "\(outcome)")
    }

    @Test("Root cannot write where the kernel finds programs that it runs outside, and can read there")
    func keepsKernelFiles() throws {
        // Opens each file without writing to it.
        let outcome = try Self.shell(
            """
            test $(id -u) = 0 || { echo left out; exit; }
            file script <<'END'
            for file in /proc/sys/kernel/core_pattern /proc/sys/kernel/modprobe /sys/kernel/uevent_helper /sys/fs/cgroup/*/release_agent; do
                test ! -e $file || (: >> $file) 2> /dev/null && test -e $file && echo "opened $file"
            done
            umount /proc/sys /sys 2> /dev/null && echo unmounted
            mount -o remount,rw,bind /proc/sys 2> /dev/null && echo mounted
            unshare -Urm umount /proc/sys 2> /dev/null && echo unmounted
            cat /proc/sys/kernel/ostype
            END
            inside script
            """, try TemporaryFolder())
        #expect(outcome.output == "left out\n" || outcome.output == "Linux\n", "\(outcome)")
    }

    @Test("Root has no capability over the namespace's links and routes")
    func dropsCapabilities() throws {
        let outcome = try Self.shell(
            #"""
            test $(id -u) = 0 || { echo left out; exit; }
            PATH=$PATH:/usr/sbin:/sbin
            file script <<'END'
            perl -ne 'print hex($1) >> 12 & 1 ? "has" : "lacks", "\n" if /^Cap(?:Prm|Eff|Bnd|Inh|Amb):\s*(\S+)/' /proc/self/status | sort -u
            ip link set lo down 2> /dev/null; echo $?
            ip link add dummy0 type dummy 2> /dev/null; echo $?
            END
            inside script
            """#, try TemporaryFolder())
        #expect(outcome.output == "left out\n" || outcome.output == "lacks\n2\n2\n", "\(outcome)")
    }

    /// Prints the error of each call that the filter refuses, and "works" for others.
    private static let calls = #"""
        file calls <<'END'
        use Errno; use Socket;
        sub report { my ($name, $works) = @_; my $code = $! + 0; my ($word) = grep { Errno->can($_)->() == $code } @Errno::EXPORT_OK; print "$name ", $works ? "works" : $word, "\n"; }
        my $byte = "x";
        report("typing", ioctl(STDIN, 0x5412, $byte));
        report("vsock", socket(my $vsock, 40, SOCK_STREAM, 0));
        report("unix", socket(my $unix, AF_UNIX, SOCK_STREAM, 0));
        report("netlink", socket(my $netlink, 16, SOCK_RAW, 0));
        my $parameters = "\0" x 120;
        report("ring", syscall(425, 1, $parameters) >= 0);
        END
        echo 'perl calls < /dev/null' | file script

        """#

    @Test(
        "A command can neither type into the terminal nor open sockets that no namespace separates, as root and as another user")
    func filtersCalls() throws {
        let outcome = try Self.shell(
            Self.calls + """
                inside script
                if test $(id -u) = 0 && become; then inside script; else echo left out; fi
                """, try TemporaryFolder())
        let refused = "typing EPERM\nvsock EAFNOSUPPORT\nunix works\nnetlink works\nring ENOSYS\n"
        #expect([refused + refused, refused + "left out\n"].contains(outcome.output), "\(outcome)")
    }

    @Test(
        "Sockets of services that would fetch for the command, and abstract sockets, cannot be reached; other sockets can")
    func hidesSockets() throws {
        let outcome = try Self.shell(
            #"""
            mkdir -p run/systemd run/podman; chmod -R 777 run
            export XDG_RUNTIME_DIR=$HOME/run DOCKER_HOST=unix://$HOME/engine
            file server <<'END'
            use Socket;
            my @sockets;
            for my $path ("run/bus", "run/systemd/private", "run/podman/podman.sock", "engine", "other", "\0larder-test-$ARGV[0]") {
                socket(my $socket, AF_UNIX, SOCK_STREAM, 0); bind($socket, pack_sockaddr_un($path)) or die; listen($socket, 100);
                chmod 0777, $path if $path !~ /\0/;
                push @sockets, $socket;
            }
            if (my $process = fork) { print "$process\n"; exit }
            close STDOUT; close STDERR;
            while (1) { accept(my $client, $sockets[0]) }
            END
            file client <<'END'
            use Socket;
            for my $path ("run/bus", "run/systemd/private", "run/podman/podman.sock", "engine", "other", "\0larder-test-$ARGV[0]") {
                socket(my $socket, AF_UNIX, SOCK_STREAM, 0);
                print connect($socket, pack_sockaddr_un($path)) ? "reached" : "refused", "\n";
            }
            END
            server=$(perl server $$)
            echo "perl client $$" | file script
            perl client $$ | sort | uniq -c
            inside script
            if test $(id -u) = 0 && become; then inside script; else echo left out; fi
            kill -KILL $server
            """#, try TemporaryFolder())
        let inside = "refused\nrefused\nrefused\nrefused\nreached\nrefused\n"
        let outside = "      6 reached\n"
        #expect([outside + inside + inside, outside + inside + "left out\n"].contains(outcome.output), "\(outcome)")
    }

    @Test("Names in this machine's /etc/hosts go to Larder too, and localhost and the machine's own name do not")
    func replacesHosts() throws {
        let outcome = try Self.shell(
            """
            echo '192.0.2.9 listed.test' > hosts
            file script <<'END'
            getent ahostsv4 listed.test | cut -d' ' -f1 | sort -u
            getent ahostsv4 localhost | cut -d' ' -f1 | sort -u
            grep -c listed.test /etc/hosts
            grep -q "^127.0.1.1 $(uname -n)$" /etc/hosts; echo $?
            END
            unshare -m true 2> /dev/null || { echo left out; exit; }
            unshare -m sh -c 'mount --bind hosts /etc/hosts && $larder run --netns --store :memory: -- sh ./script'
            """, try TemporaryFolder())
        #expect(outcome.output == "left out\n" || outcome.output == "198.18.0.1\n127.0.0.1\n0\n0\n", "\(outcome)")
    }
}
