import ArgumentParser
import CommandSupport
import TextCoding

/// The version of this build.
package enum Version {
    /// Between two releases, the next version with `-dev`.
    package static let number = "0.2.0-dev"
}

struct VersionCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "version", abstract: "Show the version of this build.")

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() {
        guard json else { return Terminal.output("larder \(Version.number)\n") }
        let value = JSONText.object([
            ("name", .string("larder")), ("version", .string(Version.number)), ("build", .string(build)),
            ("architecture", .string(architecture)),
        ])
        Terminal.output(value.written() + "\n")
    }

    private var build: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    private var architecture: String {
        #if arch(x86_64)
            "x86_64"
        #elseif arch(arm64)
            "arm64"
        #else
            "other"
        #endif
    }
}
