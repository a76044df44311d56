import ArgumentParser
import AuditLog
import CommandSupport
import Foundation
import LarderSettings
import TextCoding

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Verify the audit log.", subcommands: [LogVerifyCommand.self])
}

struct LogVerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Verify that no line of the audit log was changed; exits with 5 if a line was changed or is missing.",
        discussion: """
            The command checks every line, the hashes that link the lines, and the seals. It checks the named file and the \
            older files in the same folder. Without FILE, it verifies the file of the setting log.audit.

            If all lines after a seal were removed, the log still looks complete. To find this, give a seal that you noted \
            earlier: `larder status` shows the newest seal.

              larder log verify --seal 1234:5f70bf18…

            The command also reports lines after the newest seal, and lines that were not sealed before Larder stopped \
            unexpectedly. With --strict, it exits with 5 for such lines too.
            """)

    @Argument(help: ArgumentHelp("The audit log.", valueName: "file"))
    var file: String?

    @Option(help: ArgumentHelp("A seal that the log must contain.", valueName: "number:hash"))
    var seal: String?

    @Option(
        help: ArgumentHelp(
            "The public key of the seals: Ed25519, in PEM. Repeatable, in case the key was replaced. The default is "
                + "audit/public.pem in the state folder.",
            valueName: "file"))
    var key: [String] = []

    @Flag(help: "Also exit with 5 if a line is not sealed.")
    var strict = false

    @OptionGroup var options: SettingsOptions

    @OptionGroup var format: OutputOption

    func validate() throws {
        if let seal, AuditSeal(seal) == nil {
            throw ValidationError("--seal \(printable(seal)) is not a number and a hash, such as 1234:5f70bf18….")
        }
    }

    func run() throws {
        let path = try path()
        let scan: AuditScan
        do throws(AuditVerification.Unreadable) {
            scan = try AuditVerification.verify(path, keys: try keys(), seal: seal.flatMap(AuditSeal.init))
        } catch {
            Terminal.talk("larder: \(printable(error.reason, limit: 4096))\n")
            throw ExitCode.failure
        }
        let report = AuditReport(path: path, scan: scan, isStrict: strict)
        Terminal.output(format.output == .text ? report.text : report.json.written() + "\n")
        if !report.isGood { throw ExitCode(5) }
    }

    private func path() throws -> String {
        if let file { return URL(filePath: file).resolvingSymlinksInPath().path }
        guard let path = try options.load().settings.log.audit else {
            Terminal.talk("larder: the settings name no audit log (log.audit): give the log's file as an argument\n")
            throw ExitCode(2)
        }
        return URL(filePath: path).resolvingSymlinksInPath().path
    }

    private func keys() throws(AuditVerification.Unreadable) -> [[UInt8]] {
        if key.isEmpty {
            guard let state = UserFolders(ProcessInfo.processInfo.environment).state else {
                throw AuditVerification.Unreadable(
                    reason: "neither XDG_STATE_HOME nor HOME is set, so the key is not known; use --key FILE")
            }
            return [try AuditVerification.key(inFolder: AuditFolder.path(inState: state))]
        }
        var keys: [[UInt8]] = []
        for path in key { keys.append(try AuditVerification.key(at: path)) }
        return keys
    }
}
