import Foundation
import TestSupport
import Testing

@Suite("larder env")
struct EnvTests {
    @Test("A shell that evaluates the output uses the running Larder; the files are in the user's state folder")
    func pointsAtWhatRuns() throws {
        let origin = ScriptedOrigin.answering { request, connection in
            connection.respond(fields: "Cache-Control: max-age=600\r\n", body: request.target)
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.shell(
            """
            $larder serve --quiet --listen 127.0.0.1:0 --store :memory: --port-file $folder/port --set log.access.format=off &
            until test -s $folder/port; do kill -0 $! || exit 1; sleep 0.02; done
            eval "$($larder env)" && eval "$($larder env --shell sh)"
            curl -sS -o /dev/null $url && curl -sS -i $url | grep Cache-Status | tr -d '\\r'
            cat "$WGETRC"
            echo "$JAVA_TOOL_OPTIONS"
            kill $!
            wait $!
            """,
            [
                "folder": folder.path, "HOME": "\(folder.path)/it's \"home\"", "XDG_RUNTIME_DIR": folder.path,
                "url": "http://127.0.0.1:\(origin.port)/a",
            ])
        let port = try String(contentsOfFile: "\(folder.path)/port", encoding: .utf8).dropLast()
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.first?.hasPrefix("Cache-Status: Larder; hit") == true, "\(outcome)")
        #expect(lines.contains("http_proxy = http://127.0.0.1:\(port)"))
        #expect(lines.last?.components(separatedBy: "-Dhttp.proxyHost").count == 2)
        #expect(
            FileManager.default.fileExists(
                atPath: "\(folder.path)/it's \"home\"/.local/state/larder/clients/127.0.0.1-\(port)/wgetrc"))
    }

    @Test("Evaluated again, and for a Larder on another port, it keeps the user's values; without a home it writes elsewhere")
    func keepsItsUsersSettings() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("tries = 3\n", to: ".wgetrc")
        let outcome = try CommandLineTests.shell(
            """
            serve() {
                rm -f $folder/port
                $larder serve --quiet --listen 127.0.0.1:0 --store :memory: --port-file $folder/port --set log.access.format=off &
                until test -s $folder/port; do kill -0 $! || exit 1; sleep 0.02; done
            }
            serve
            eval "$($larder env)"; eval "$($larder env)"
            head -1 "$WGETRC"
            kill $!; wait $!
            serve
            eval "$($larder env)"; eval "$($larder env)"
            head -1 "$WGETRC"; grep -c tries "$WGETRC"
            $larder run --join -- sh -c 'head -1 "$WGETRC"; dirname "$WGETRC"' | sed 's/larder-run.*/gone/'
            ls $folder/state/larder/clients | wc -l
            cp -R "${WGETRC%/*}" $folder/state/larder/clients/127.0.0.1-1
            touch -d '40 days ago' $folder/state/larder/clients/*
            $larder env > $folder/said
            ls $folder/state/larder/clients | wc -l
            eval "$(XDG_STATE_HOME=/proc/none $larder env)"
            head -1 "$WGETRC"; echo "${WGETRC%/*/*}"
            kill $!; wait $!
            """,
            [
                "folder": folder.path, "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path, "TMPDIR": folder.path,
                "XDG_STATE_HOME": "\(folder.path)/state",
            ])
        let expected = """
            tries = 3
            tries = 3
            1
            tries = 3
            \(folder.path)/gone
            2
            1
            tries = 3
            \(folder.path)/larder/clients

            """
        #expect(outcome.output == expected, "\(outcome)")
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("larder-run") }
        #expect(left.isEmpty)
    }

    @Test("If every client needs a password, env says so, and a command is not started")
    func saysWhoIsAsked() throws {
        let folder = try TemporaryFolder()
        let hash = "$2y$04$abcdefghijklmnopqrstuu/LVz6MZlItEy42I2juLihZ66HnQx/cy"
        chmod(try folder.write("a:\(hash)\n", to: "passwords"), 0o600)
        _ = try folder.write(
            """
            listen: ["127.0.0.1:0"]
            store: {path: ":memory:"}
            log: {access: {format: off}}
            clients: {passwords: \(folder.path)/passwords, authenticate: all}
            """, to: ".config/larder/config.yaml")
        let outcome = try CommandLineTests.shell(
            """
            $larder serve --quiet --port-file $folder/port &
            until test -s $folder/port; do kill -0 $! || exit 1; sleep 0.02; done
            $larder env | head -1
            $larder run --join -- true
            echo $?
            kill $!
            wait $!
            """, ["folder": folder.path, "HOME": folder.path, "XDG_RUNTIME_DIR": folder.path])
        #expect(outcome.output.hasPrefix("export http_proxy=") && outcome.output.hasSuffix("\n125\n"), "\(outcome)")
        let lines = outcome.talk.split(separator: "\n")
        #expect(
            lines.count == 2
                && lines.allSatisfy { $0.hasPrefix("larder: clients.authenticate requires a password from every client") })
    }

    @Test("Without a running Larder, env reports this and exits with 1")
    func saysThatNoneRuns() throws {
        let folder = try TemporaryFolder()
        let outcome = try CommandLineTests.larder("env", environment: ["HOME": folder.path, "XDG_RUNTIME_DIR": folder.path])
        #expect(outcome.code == 1 && outcome.output.isEmpty && outcome.talk.hasPrefix("larder: Larder is not running"))
    }
}
