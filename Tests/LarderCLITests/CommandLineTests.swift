import Foundation
import TestSupport
import Testing

@testable import LarderCLI
@testable import LarderSettings

@Suite("The command line")
struct CommandLineTests {
    struct Outcome {
        let code: Int32
        let output: String
        let talk: String
    }

    /// Runs the built binary, without this machine's settings in its environment.
    static func larder(_ arguments: String..., environment: [String: String] = [:]) throws -> Outcome {
        try larder(arguments, environment: environment)
    }

    static func larder(_ arguments: [String], environment: [String: String] = [:]) throws -> Outcome {
        try run(binary, arguments, environment)
    }

    /// A shell script in which `$larder` is the binary.
    static func shell(_ script: String, _ variables: [String: String]) throws -> Outcome {
        try run(URL(filePath: "/bin/sh"), ["-c", script], variables.merging(["larder": binary.path]) { $1 })
    }

    private static var binary: URL {
        URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "larder")
    }

    private static func run(_ program: URL, _ arguments: [String], _ environment: [String: String]) throws -> Outcome {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        process.environment = CleanEnvironment.variables.merging(environment) { $1 }
        let output = Pipe()
        let talk = Pipe()
        process.standardOutput = output
        process.standardError = talk
        try process.run()
        // Only standard output (markdown, completions) can be longer than a pipe's buffer, so it is read first.
        let outputData = output.fileHandleForReading.readDataToEndOfFile()
        let talkData = talk.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return Outcome(
            code: process.terminationStatus, output: String(decoding: outputData, as: UTF8.self),
            talk: String(decoding: talkData, as: UTF8.self))
    }

    @Test("version prints the version, also as JSON")
    func saysItsVersion() throws {
        let plain = try Self.larder("version")
        #expect(plain.code == 0 && plain.output.hasPrefix("larder "))
        let json = try Self.larder("version", "--json")
        let object = try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: String]
        #expect(object?["name"] == "larder" && object?["version"] != nil)
    }

    @Test("config check exits with 0 for valid settings, and with 2 and the place of every problem for invalid ones")
    func checks() throws {
        let folder = try TemporaryFolder()
        let good = try folder.write("loops: 2\n", to: "good.yaml")
        let outcome = try Self.larder("config", "check", "-c", good)
        #expect(outcome.code == 0 && outcome.output.hasPrefix("\(good): good") && outcome.talk.isEmpty)

        let bad = try folder.write("loops: 0\nstroe: {}\n", to: "bad.yaml")
        let refused = try Self.larder("config", "check", "--config", bad)
        #expect(refused.code == 2 && refused.output.isEmpty)
        #expect(
            refused.talk.contains("\(bad):1:8: loops: ")
                && refused.talk.contains("\(bad):2:1: unknown key `stroe`; did you mean `store`?"))
    }

    @Test("config show prints the active settings from every source")
    func shows() throws {
        let folder = try TemporaryFolder()
        _ = try folder.write("loops: 2\nhost_mismatch: deny\n", to: "larder/config.yaml")
        let outcome = try Self.larder(
            "config", "show", "--set", "timeouts.idle=5s", environment: ["XDG_CONFIG_HOME": folder.path, "LARDER_LOOPS": "3"])
        #expect(outcome.code == 0)
        #expect(outcome.output.contains("loops: 3\n"))
        #expect(outcome.output.contains("host_mismatch: deny\n"))
        #expect(outcome.output.contains("  idle: 5s\n"))
    }

    @Test("config schema prints JSON")
    func describes() throws {
        let outcome = try Self.larder("config", "schema")
        let object = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
        #expect(object?["properties"] != nil)
    }

    @Test(
        "Usage errors exit with 2, help with 0",
        arguments: [(["bogus"], 2), (["serve", "--lisen", "x"], 2), (["--help"], 0), (["help", "serve"], 0)]
            as [([String], Int32)])
    func exitCodes(arguments: [String], code: Int32) throws {
        let outcome = try Self.larder(arguments)
        #expect(outcome.code == code)
        #expect(outcome.output.isEmpty == (code != 0))
    }

    @Test("help serve names every mode", arguments: LarderSettings.Mode.allCases)
    func helpNamesModes(mode: LarderSettings.Mode) throws {
        let words = try Self.larder("help", "serve").output.split { !$0.isLetter && $0 != "_" }
        #expect(words.contains { $0 == mode.rawValue })
    }

    @Test(
        "help for an unknown command suggests the nearest one",
        arguments: [
            (["nonsense"], "'nonsense' is not a command."), (["sevre"], "'sevre' is not a command; did you mean 'serve'?"),
            (["cache", "verfy"], "'verfy' is not a command; did you mean 'verify'?"), (["serve", "x"], "'x' is not a command."),
        ])
    func namesTheNearestCommand(words: [String], sentence: String) throws {
        let outcome = try Self.larder(["help"] + words)
        #expect(outcome.code == 2 && outcome.output.isEmpty && outcome.talk.hasPrefix("Error: \(sentence)\n"))
        for words in [["cache", "verify"], ["pins", "export"], ["config", "schema"], ["ca", "init"]] {
            #expect(try Self.larder(["help"] + words).code == 0)
        }
    }

    @Test("T01: serve refuses a non-loopback address without a list of clients")
    func refusesToServeAll() throws {
        let outcome = try Self.larder("serve", "--listen", "0.0.0.0:0", "--store", ":memory:")
        #expect(outcome.code == 2)
        #expect(outcome.talk.hasPrefix("--listen: listen: other machines can reach 0.0.0.0:0"))
    }

    @Test("An error about an unwritable log names the log")
    func namesTheLog() throws {
        let outcome = try Self.larder(
            "serve", "--listen", "127.0.0.1:0", "--store", ":memory:", "--set", "log.access.path=/nowhere/access.log")
        #expect(outcome.code == 1)
        #expect(outcome.talk.contains("cannot write the access log /nowhere/access.log: open: No such file or directory"))
    }

    @Test(
        "Closed standard descriptors are not reused for files that messages would be written into",
        .enabled(if: getuid() == 0, "only root looks into a process that lets nobody look"))
    func holdsStandardDescriptors() throws {
        let folder = try TemporaryFolder()
        let outcome = try Self.shell(
            """
            $larder serve --listen 127.0.0.1:0 --store $folder/store --set admin.socket=$folder/admin --port-file $folder/ports <&- >&- 2>&- &
            until test -s $folder/ports; do kill -0 $! || exit 1; done
            ls -l /proc/$!/fd
            kill $!
            """, ["folder": folder.path])
        let links = outcome.output.split(separator: "\n").compactMap { line in
            line.split(separator: " -> ").last.flatMap { target in
                line.split(separator: " ").dropLast(2).last.map { ($0, target) }
            }
        }
        let standard = links.filter { ["0", "1", "2"].contains($0.0) }
        #expect(standard.count == 3)
        #expect(standard.allSatisfy { $0.1 == "/dev/null" })
    }

    @Test("completions supports each shell", arguments: ["bash", "zsh", "fish"])
    func completes(shell: String) throws {
        let outcome = try Self.larder("completions", shell)
        #expect(outcome.code == 0 && outcome.output.contains("larder"))
    }
}
