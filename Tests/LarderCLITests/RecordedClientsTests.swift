import Foundation
import TestSupport
import Testing

@Suite("Real clients, recorded and replayed")
struct RecordedClientsTests {
    private static let scripts = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Long").path

    /// Runs one of the long scripts in its short form.
    private func run(_ script: String) throws -> CommandLineTests.Outcome {
        let folder = try TemporaryFolder()
        var variables = ["WORK": folder.path, "HOME": folder.path, "script": "\(Self.scripts)/\(script)"]
        variables["PATH"] = ProcessInfo.processInfo.environment["PATH"]
        return try CommandLineTests.shell("LARDER=$larder; export LARDER; exec $script -s 2>&1", variables)
    }

    @Test(
        "curl, both protocols of git and a Python script get the same responses without the origin, plain and intercepted"
    )
    func areAnsweredTheSame() throws {
        let outcome = try run("replay-clients.sh")
        if outcome.output.hasPrefix("left out: it needs") { return }
        #expect(outcome.code == 0 && outcome.output.contains("ok      script, intercepted, replayed"), "\(outcome)")
    }

    @Test(
        """
        40 planted secrets stand in no file; what nearly matches is named, and matches by what is proposed; HAR; a full disk, a folder that cannot be \
        written to, a kill
        """)
    func withstand() throws {
        let outcome = try run("recordings.sh")
        if outcome.output.hasPrefix("left out: it needs") { return }
        #expect(outcome.code == 0 && outcome.output.contains("ok      none of them stands in any of "), "\(outcome)")
    }
}
