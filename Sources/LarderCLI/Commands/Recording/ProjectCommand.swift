import ArgumentParser
import CertificateAuthority
import CommandSupport
import Foundation
import LarderSettings
import LocalCA
import ProxyPolicy
import TextCoding

struct ProjectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "project", abstract: "Decide whether to use the settings in a project's .larder folder.",
        discussion: """
            `larder record` and `larder replay` use .larder/policy.yaml. Without a decision, Larder uses only settings that \
            cannot send data to another server or weaken your own settings. These are `replay`, `limits`, `record.match`, \
            stricter trust, and rules that neither allow requests nor change responses (docs/project-settings.md). A decision \
            applies to the folder's files as they are now. If any file changes, except the recording and the key, you must \
            decide again.

              larder project status
              larder project allow
              larder replay --project-settings=allow -- make

            Decisions are stored in $XDG_STATE_HOME/larder/projects, else ~/.local/state/larder/projects.
            """,
        subcommands: [Status.self, Allow.self, Deny.self])

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status", abstract: "Show your decision, and the settings that need a decision.")

        @OptionGroup var options: Options

        func run() throws {
            let folder = try options.folder()
            let environment = ProcessInfo.processInfo.environment
            Terminal.output("folder    \(printable(folder.path, limit: 4096))\n")
            guard let policy = try ProjectCommand.policy(of: folder) else {
                return Terminal.output("settings  none\n")
            }
            let standing: ProjectSettings.Status
            do throws(ProjectDecisions.Failure) {
                standing = try ProjectSettings.standing(of: folder, policy: policy, environment)
            } catch { throw ProjectCommand.fail(error.reason) }
            let decision =
                switch standing {
                case .undecided(wasDecided: false): "none"
                case .undecided(wasDecided: true): "none; the project's files have changed since your last decision"
                case .allowed: "allowed"
                case .denied: "denied"
                }
            Terminal.output("settings  \(printable(folder.policy, limit: 4096))\ndecision  \(decision)\n")
            for problem in options.refused(folder, environment) {
                var line = "refused   \(problem)"
                if case .allowed = standing, let allowed = ProjectTerms.setting(refusedBy: problem) {
                    line = "allowed   \(allowed)"
                }
                Terminal.output("\(printable(line, limit: 4096))\n")
            }
        }
    }

    struct Allow: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "allow", abstract: "Use all settings of the project, until one of its files changes.",
            discussion:
                "Read .larder/policy.yaml first: it can set the servers, certificates and proxies for all requests of the project's commands."
        )

        @OptionGroup var options: Options

        func run() throws { try ProjectCommand.decide(.allow, options.folder()) }
    }

    struct Deny: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "deny", abstract: "Use no settings of the project, until one of its files changes.")

        @OptionGroup var options: Options

        func run() throws { try ProjectCommand.decide(.deny, options.folder()) }
    }

    struct Options: ParsableArguments {
        @Argument(help: ArgumentHelp("A folder in the project. The default is the current folder.", valueName: "folder"))
        var place: String?

        @OptionGroup var settings: SettingsOptions

        /// - Throws: exit code 1, after reporting that there is no `.larder` folder.
        func folder() throws -> ProjectFolder {
            if let place, !Self.isFolder(place) { throw ProjectCommand.fail("\(place): the folder does not exist") }
            let start = URL(filePath: place ?? FileManager.default.currentDirectoryPath).path
            if let folder = ProjectFolder(above: start) { return folder }
            throw ProjectCommand.fail("no .larder folder in \(start) or above it")
        }

        private static func isFolder(_ path: String) -> Bool {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
        }

        /// The problems in the project's settings for a user who has neither allowed nor denied the project.
        func refused(_ folder: ProjectFolder, _ environment: [String: String]) -> [LocatedProblem] {
            var sources = SettingsSources(file: settings.config, assignments: settings.set, environment: environment)
            sources.project = ProjectSettings(folder: folder, choice: .auto, isReplayed: false).undecided
            // Interception is on, as in a run.
            sources.trustFiles = TrustFiles(
                authority: try? AuthorityCommand.made(RootTerms.ofThisMachine(days: 1, constraint: nil)))
            guard case .problems(let problems) = sources.load().outcome else { return [] }
            return problems
        }
    }

    private static func decide(_ word: ProjectDecisions.Word, _ folder: ProjectFolder) throws {
        guard let policy = try policy(of: folder) else {
            throw fail("\(folder.path) has no settings: it contains no policy.yaml")
        }
        let digest: String
        do throws(ProjectDigest.Failure) {
            digest = try ProjectDigest.make(of: folder, policy: policy)
        } catch { throw fail("cannot store a decision about \(folder.path): \(error.reason)") }
        do throws(ProjectDecisions.Failure) {
            let decisions = try ProjectDecisions(ProcessInfo.processInfo.environment)
            try decisions.storing(ProjectDecisions.Decision(folder: folder.path, digest: digest, word: word))
        } catch { throw fail(error.reason) }
        let action = word == .allow ? "allowed" : "denied"
        Terminal.output("\(action): \(printable(folder.policy, limit: 4096)) (\(digest))\n")
    }

    private static func policy(of folder: ProjectFolder) throws -> [UInt8]? {
        do throws(LocalFile.Unreadable) {
            return try folder.readPolicy()
        } catch { throw fail("cannot read \(folder.policy): \(error.reason)") }
    }

    private static func fail(_ reason: String) -> ExitCode {
        Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
        return .failure
    }
}
