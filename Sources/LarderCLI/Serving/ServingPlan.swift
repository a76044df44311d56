import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import LarderSettings

/// The values that `serve` needs from the settings, in the form that the lower modules use.
struct ServingPlan {
    let settings: LarderSettings
    /// `:memory:`, or the file's absolute path.
    let storePath: String
    let loopCount: Int
    /// Whether Larder starts even if it cannot write the store's file. If another process has the file open, Larder opens it read-only.
    /// If no folder can hold the file, Larder stores responses in memory.
    let mayForgetWhatIsNew: Bool
    /// Whether an empty settings file, and a reload that loses all rules, passwords or pins, is accepted.
    let allowsEmpty: Bool
    /// Whether Larder lives as long as the command of `run`, `record` or `replay`.
    let servesCommand: Bool
    private let environment: [String: String]

    /// The user's state folder; `nil` if no variable names it.
    var stateFolder: String? { UserFolders(environment).state }

    /// - Parameter listener: the first of the addresses that Larder listens on.
    /// - Returns: `nil` if the admin socket is off, or its place is unknown.
    func adminSocketPath(for listener: ListenAddress) -> String? { AdminSocketPath.of(settings, environment, listener: listener) }

    /// - Throws: exit code 2, after reporting the problem.
    init(
        _ loaded: LoadedSettings, mayForgetWhatIsNew: Bool = false, allowsEmpty: Bool = false, servesCommand: Bool = false
    ) throws(ExitCode) {
        settings = loaded.settings
        self.mayForgetWhatIsNew = mayForgetWhatIsNew
        self.allowsEmpty = allowsEmpty
        self.servesCommand = servesCommand
        loopCount = settings.loops ?? min(4, max(1, ProcessInfo.processInfo.activeProcessorCount))
        environment = loaded.sources.environment
        if let path = settings.store.path {
            storePath = path == ":memory:" ? path : URL(filePath: path).path
        } else if let folder = UserFolders(loaded.sources.environment).cache {
            storePath = "\(folder)/store.sqlite"
        } else if mayForgetWhatIsNew {
            storePath = ":memory:"
        } else {
            Terminal.talk(
                "store.path: neither XDG_CACHE_HOME nor HOME is set, so the store's path is unknown; use --store PATH\n")
            throw ExitCode(2)
        }
    }
}
