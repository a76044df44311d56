import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ServerTrust
import TextCoding

struct FarmKeyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Create, replace, revoke and show the keys of a farm.",
        discussion: """
            The keys of a farm are in three files of one folder:

              farm.key      the secret of the farm; every node needs it
              trusted.keys  the public keys of the nodes that may write; every node needs it
              signing.key   the private key of a node that writes; only this node has it

            Create the keys on one machine, and copy farm.key and trusted.keys to the other nodes:

              larder farm key new --label builder-1
              larder farm key show

            Each further node that writes has a signing key of its own:

              larder farm key new --signing-only --label builder-2

            The commands print no secrets. Exit codes: 0 success, 1 failure, 2 wrong usage.
            """,
        subcommands: [New.self, Rotate.self, Revoke.self, Show.self])
}

/// The option for the folder with the keys, the same for every subcommand of `larder farm key`.
struct FarmKeyPlace: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The folder with the keys. Default: $XDG_DATA_HOME/larder/farm, else ~/.local/share/larder/farm.",
            valueName: "folder"))
    var folder: String?

    func validate() throws {
        if folder?.isEmpty == true { throw ValidationError("--folder needs a path") }
    }

    /// - Throws: exit code 1, after reporting that the folder is unknown.
    func value() throws(ExitCode) -> String {
        if let folder { return folder }
        guard let data = UserFolders(ProcessInfo.processInfo.environment).data else {
            throw FarmKeyCommand.refuse("the folder of the keys is unknown, because HOME is not set; give --folder")
        }
        return "\(data)/farm"
    }
}

extension FarmKeyCommand {
    static var now: Timestamp { Timestamp(seconds: POSIXTime.now.seconds) }

    static func refuse(_ reason: String) -> ExitCode {
        Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
        return .failure
    }

    /// Reports a problem with a key file, and throws exit code 1.
    static func reading<Value>(_ read: () throws(FarmKeysUnusable) -> Value) throws(ExitCode) -> Value {
        do throws(FarmKeysUnusable) {
            return try read()
        } catch {
            throw refuse(error.message)
        }
    }

    /// - Parameters:
    ///   - before: the bytes of the file that is replaced; `nil` for a new file.
    ///   - isSecret: whether only the owner may read a new file.
    static func write(_ text: String, to path: String, inPlaceOf before: [UInt8]?, isSecret: Bool) throws(ExitCode) {
        do throws(WholeFile.Unwritten) {
            try WholeFile.write(
                text, to: path, replaces: before != nil, inPlaceOf: before, mode: isSecret ? 0o600 : 0o644)
        } catch {
            throw refuse("cannot write \(path): \(error.reason)")
        }
    }

    static func exists(_ path: String) -> Bool {
        var facts = stat()
        return lstat(path, &facts) == 0
    }

    /// Tells the user what to do after a change.
    static func advise(_ text: String) { Terminal.talk("larder: \(printable(text, limit: 4096))\n") }

    /// Parses the value of `--from`: a time, or `now`.
    static func start(_ from: String?) throws -> Timestamp {
        guard let from else { return now.advanced(seconds: 86_400) }
        if from == "now" { return now }
        guard let time = RFC3339Time.read(from), time.milliseconds >= 0 else {
            throw ValidationError("--from \(printable(from)): expected now, or a time like 2027-01-31T06:00:00Z")
        }
        guard time >= now else { throw ValidationError("--from \(printable(from)): this time has passed") }
        return time
    }
}
