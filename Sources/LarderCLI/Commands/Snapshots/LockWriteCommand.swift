import ArgumentParser
import CommandSupport
import Foundation
import LarderSettings
import Snapshots
import TextCoding

struct LockWriteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "write", abstract: "Writes the lock of a snapshot, or of what a command asks for now.",
        discussion: """
            A command is run as `larder run --locked` runs it: every request goes out, nothing comes from the store, and nothing is kept but \
            the lock. Its own output stays its own, so the lock needs a file (-o). That is there whole, or as it was before.

              larder lock write build.larder > build.lock
              larder lock write -o build.lock -- make
              larder run --locked build.lock -- make

            Exit codes with a command: its own, where it failed; 4 where an answer failed, broke off or could not be seen; 125 where Larder \
            could not do its part. In none of these is the lock written.
            """)

    @Argument(help: "A snapshot; none where a command is given.")
    var snapshot: String?

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("The lock's file; else standard output, for a snapshot alone.", valueName: "file"))
    var output: String?

    @Option(
        help: ArgumentHelp(
            "The project's key; made where there is none. Needed where secrets are sent or answered, here and with run --locked.",
            valueName: "file"))
    var key: String?

    @OptionGroup var shared: CommandOptions

    @Flag(help: "Leaves https alone: what goes through a tunnel cannot be locked.")
    var noIntercept = false

    @OptionGroup var options: SettingsOptions

    func validate() throws {
        guard (snapshot == nil) != shared.command.isEmpty else {
            throw ValidationError("Of what? Give a snapshot, or a command behind --: larder lock write -o build.lock -- make")
        }
        if snapshot == nil, output == nil {
            throw ValidationError(
                "Where does the lock go? The command has standard output: larder lock write -o build.lock -- make")
        }
        if snapshot != nil, key != nil || shared.policy != nil || shared.log != nil || noIntercept {
            throw ValidationError("--key, --policy, --log and --no-intercept are for a command.")
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
        // Not once the command has run for an hour.
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
            Terminal.talk("larder: no lock is written: the command has ended with \(ended)\n")
            throw ExitCode(ended)
        }
        guard let recording = larder.recordings.ended else { throw EphemeralProxy.fail("nothing was recorded") }
        let answers: ObservedRun.Answers
        do throws(SnapshotError) {
            answers = try seen.answers(recording)
        } catch { throw EphemeralProxy.fail("no lock is written: what was answered is not there whole: \(error)") }
        if !answers.gaps.isEmpty {
            for gap in answers.gaps { Terminal.talk("larder: not locked: \(printable(gap, limit: 4096))\n") }
            Terminal.talk("larder: no lock is written: not everything that was asked for was answered whole\n")
            throw RunCommand.strictCode
        }
        if answers.holdsSecrets, larder.settings.recordings.key == nil {
            throw EphemeralProxy.fail(
                "no lock is written: secrets were sent or answered, which only the project's key lets be known again; give --key FILE, here "
                    + "and with `larder run --locked`")
        }
        do throws(WholeFile.Unwritten) {
            try WholeFile.write(answers.lock.text, to: output, replaces: true)
        } catch { throw EphemeralProxy.fail("cannot write \(output): \(error.reason)") }
        Terminal.talk("larder: \(answers.lock.entries.count) locked in \(printable(output, limit: 4096))\n")
    }

    /// - Returns: why no file can be put there, as far as that can be told beforehand.
    private static func hindrance(to output: String) -> String? {
        let place = URL(filePath: output)
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: place.path, isDirectory: &isFolder), isFolder.boolValue {
            return String(cString: strerror(EISDIR))
        }
        return access(place.deletingLastPathComponent().path, W_OK) == 0 ? nil : String(cString: strerror(errno))
    }
}
