import Foundation
import HTTPMessage
import TestSupport
import Testing
import TextCoding

@testable import CommandEnvironment
@testable import Doctor
@testable import LarderCLI
@testable import LarderSettings

@Suite("Variables for shells and programs")
struct ShellSyntaxTests {
    /// All characters with a special meaning, and once more with a mark that combines with each.
    static let hostile =
        "/a b/'; touch $HOME/x; \"`id`\" \\ #\u{2019}\u{E9}\r\n|&>"
        + "'\"`$\\;&|<>#\u{2018}\u{2019}\u{201A}\u{201B}\r\n ".unicodeScalars.map { "\($0)\u{301}" }.joined()

    static func environment(_ folder: String) -> ClientEnvironment {
        ClientEnvironment(proxy: ListenAddress("127.0.0.1:3180")!, files: ClientFiles(folder: folder), carriesTrust: true)
    }

    @Test("A shell that evaluates the output has every value unchanged, whatever its characters")
    func survivesShells() throws {
        let environment = Self.environment(Self.hostile)
        let text = ShellSyntax.sh.text(environment, over: [:])
        for (name, value) in environment.variables(over: [:]) {
            let outcome = try CommandLineTests.shell("eval \"$text\"; printf %s \"$\(name)\"", ["text": text])
            #expect(outcome.code == 0 && Array(outcome.output.utf8) == Array(value.utf8), "\(name)")
        }
    }

    @Test("The content of a variable that is kept is not executed, even with marks that combine with its quotes")
    func runsNothing() throws {
        let folder = try TemporaryFolder()
        let given = ["JAVA_TOOL_OPTIONS": "-Da='\u{301};touch \(folder.path)/run;'\u{301}"]
        let text = ShellSyntax.sh.text(Self.environment("/f"), over: given)
        _ = try CommandLineTests.shell("eval \"$text\"", ["text": text])
        #expect(!FileManager.default.fileExists(atPath: "\(folder.path)/run"))
    }

    @Test(
        "Each syntax removes the special meaning of a value's characters",
        arguments: [
            (ShellWord.quoted, "a'b$c", "'a'\\''b$c'"), (ShellSyntax.fishQuoted, "a'b\\c$d", "'a\\'b\\\\c$d'"),
            (ShellSyntax.pwshQuoted, "a'b\u{2019}$c", "'a''b\u{2019}\u{2019}$c'"),
            (ShellSyntax.dotenvQuoted, "http://127.0.0.1:3180", "http://127.0.0.1:3180"),
            (ShellSyntax.dotenvQuoted, "a b$c", "'a b$c'"),
            (ShellSyntax.dotenvQuoted, "it's $5 \"`\\\n", "\"it's \\$5 \\\"\\`\\\\\\n\""),
            (ShellWord.quoted, "'\u{301}", "''\\''\u{301}'"), (ShellWord.of, "'\u{301}", "''\\''\u{301}'"),
            (ShellSyntax.fishQuoted, "'\u{301}\\\u{301}", "'\\'\u{301}\\\\\u{301}'"),
            (ShellSyntax.pwshQuoted, "'\u{301}\u{2019}\u{301}", "'''\u{301}\u{2019}\u{2019}\u{301}'"),
            (ShellSyntax.dotenvQuoted, "'\u{301}$\u{301}", "\"'\u{301}\\$\u{301}\""),
            (JavaProperty.quoted, "/'\u{301}", "'/'\"'\"'\u{301}'"),
            (ShellSyntax.propertyQuoted, " a\\b=\u{E9}\n", "\\u0020a\\u005cb=\\u00e9\\u000a"),
        ] as [(@Sendable (String) -> String, String, String)])
    func quotes(quoted: @Sendable (String) -> String, value: String, text: String) {
        #expect(Array(quoted(value).utf8) == Array(text.utf8))
    }

    @Test("JSON contains every variable")
    func writesJSON() throws {
        let environment = Self.environment(Self.hostile)
        let text = ShellSyntax.json.text(environment, over: [:])
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: String]
        #expect(object == Dictionary(uniqueKeysWithValues: environment.variables(over: [:]).map { ($0.name, $0.value) }))
    }

    @Test("The output for docker, apt and gradle is in their own syntax")
    func writesForPrograms() {
        let environment = Self.environment("/state")
        #expect(
            ShellSyntax.docker.text(environment, over: [:]).hasPrefix(
                "--network=host\n--build-arg http_proxy=http://127.0.0.1:3180\n"))
        #expect(
            ShellSyntax.apt.text(environment, over: [:])
                == "Acquire::http::Proxy \"http://127.0.0.1:3180\";\nAcquire::https::Proxy \"http://127.0.0.1:3180\";\nAcquire::https::CaInfo \"/state/ca-bundle.pem\";\n"
        )
        let gradle = ShellSyntax.gradle.text(environment, over: [:])
        #expect(
            gradle.contains("systemProp.http.nonProxyHosts=\n")
                && gradle.contains("systemProp.javax.net.ssl.trustStore=/state/trust.p12\n"))
    }
}
