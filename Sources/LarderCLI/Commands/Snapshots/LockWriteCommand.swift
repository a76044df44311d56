import ArgumentParser
import CommandSupport
import Foundation
import LarderSettings
import Snapshots
import TextCoding

struct LockWriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write", abstract: "Write the lock file of a snapshot, or of the requests that a command sends now.",
        discussion: """
            A command runs as with `larder run --locked`: Larder forwards every request, does not use the store, and keeps only \
            the lock file. With a command, -o is required, because the command uses standard output. If larder \
            lock write fails, an existing lock file is unchanged.

              larder lock write build.larder > build.lock
              larder lock write -o build.lock -- make
              larder run --locked build.lock -- make

            Exit codes with a command: the command's own, if it failed; 4 if a response failed, was incomplete or could not be \
            inspected; 125 if Larder failed. In these cases no lock file is written.
            """)

    @Argument(help: "A snapshot; omit it if you give a command.")
    var snapshot: String?

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "The lock file. For a snapshot, the default is standard output; for a command, the file is required.",
            valueName: "file"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The project's key. It is created if necessary. If requests or responses contain secrets, the key is required here and with run --locked.",
            valueName: "file"))
    var key: String?

    @OptionGroup var shared: CommandOptions

    @Flag(help: "Do not intercept https; tunnels cannot be locked.")
    var noIntercept = false

    @OptionGroup var options: SettingsOptions

    func validate() throws {
        guard (snapshot == nil) != shared.command.isEmpty else {
            throw ValidationError(
                "What should be locked? Give a snapshot, or a command after --: larder lock write -o build.lock -- make")
        }
        if snapshot == nil, output == nil {
            throw ValidationError(
                "Give a lock file, because the command uses standard output: larder lock write -o build.lock -- make")
        }
        if snapshot != nil, key != nil || shared.policy != nil || shared.log != nil || noIntercept {
            throw ValidationError("--key, --policy, --log and --no-intercept need a command.")
        }
    }

    func run() throws {
        if let snapshot {
            try SnapshotFiles.run {
                let text = try LockFile(of: SnapshotFiles.open(snapshot)).text
                guard let output else { return Terminal.output(text) }
                do throws(WholeFile.Unwritten) {
                    try WholeFile.write(text, to: output, replaces: true)
                } catch {
                    Terminal.talk("larder: cannot write \(printable(output, limit: 4096)): \(error.reason)\n")
                    throw ExitCode.failure
                }
            }
        } else if let output {
            try lockCommand(into: output)
        }
    }

    private func lockCommand(into output: String) throws {
        let run = try CommandRun()
        defer { run.end() }
        // The output file is checked before the command runs, because the command may take an hour.
        if let reason = Self.hindrance(to: output) { throw EphemeralProxy.fail("cannot write \(output): \(reason)") }
        let key = key ?? ProjectFolder()?.key
        if let key { try RecordCommand.makeKey(at: key) }
        let seen = ObservedRun(in: run.folder)
        var terms = EphemeralProxy.Terms()
        terms.policy = shared.policy
        terms.log = shared.log
        terms.interceptsNobody = noIntercept
        terms.isCounted = true
        seen.set(&terms, by: "lock write", key: key.map { URL(filePath: $0).path })
        let larder = try EphemeralProxy(options, terms, in: run.folder)
        let code = Result { () throws(ExitCode) in try run.run(shared.command, through: larder) }
        let unseen = UnobservedRun(larder.close(), hasOwnNetwork: false, offersNetwork: false)
        if let unseen { Terminal.talk("larder: \(unseen.sentence)\n") }
        let ended = try code.get()
        if ended != 0 {
            Terminal.talk("larder: no lock written: the command exited with \(ended)\n")
            throw ExitCode(ended)
        }
        guard let recording = larder.recordings.ended else { throw EphemeralProxy.fail("nothing was recorded") }
        let answers: ObservedRun.Answers
        do throws(SnapshotError) {
            answers = try seen.answers(recording)
        } catch { throw EphemeralProxy.fail("no lock written: the responses are incomplete: \(error)") }
        if !answers.gaps.isEmpty {
            for gap in answers.gaps { Terminal.talk("larder: not locked: \(printable(gap, limit: 4096))\n") }
            Terminal.talk("larder: no lock written: some responses failed or are incomplete\n")
            throw RunCommand.strictCode
        }
        if answers.holdsSecrets, larder.settings.recordings.key == nil {
            throw EphemeralProxy.fail(
                "no lock written: requests or responses contain secrets, which Larder recognizes only with the project's key; give --key FILE, here "
                    + "and with `larder run --locked`")
        }
        do throws(WholeFile.Unwritten) {
            try WholeFile.write(answers.lock.text, to: output, replaces: true)
        } catch { throw EphemeralProxy.fail("cannot write \(output): \(error.reason)") }
        Terminal.talk("larder: \(answers.lock.entries.count) locked in \(printable(output, limit: 4096))\n")
    }

    /// - Returns: why the output file cannot be written, as far as that can be checked in advance.
    private static func hindrance(to output: String) -> String? {
        let place = URL(filePath: output)
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: place.path, isDirectory: &isFolder), isFolder.boolValue {
            return String(cString: strerror(EISDIR))
        }
        return access(place.deletingLastPathComponent().path, W_OK) == 0 ? nil : String(cString: strerror(errno))
    }
}
