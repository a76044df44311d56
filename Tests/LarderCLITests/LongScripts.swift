import Foundation
import TestSupport

/// The scripts of Tests/Long that have a short form.
enum LongScripts {
    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Long").path

    static func runShort(_ script: String) throws -> CommandLineTests.Outcome {
        let work = try TemporaryFolder()
        var variables = ["WORK": work.path, "HOME": work.path, "script": "\(folder)/\(script)"]
        variables["PATH"] = ProcessInfo.processInfo.environment["PATH"]
        return try CommandLineTests.shell("LARDER=$larder; export LARDER; exec $script -s 2>&1", variables)
    }
}
