import ArgumentParser
import Foundation

/// What `serve` needs from the settings, in the words of the rooms below.
struct ServingPlan {
    let settings: LarderSettings
    /// `:memory:`, or the file's absolute path.
    let storePath: String
    let loopCount: Int
    /// `nil` where there is to be no admin socket, or nothing says where it could stand.
    let adminSocketPath: String?
    /// Whether a store's file that cannot be had, because another process has it or there is no place for it, is only read, or done without.
    let mayForgetWhatIsNew: Bool

    /// - Throws: exit code 2, after saying what is wrong.
    init(_ loaded: LoadedSettings, mayForgetWhatIsNew: Bool = false) throws(ExitCode) {
        settings = loaded.settings
        self.mayForgetWhatIsNew = mayForgetWhatIsNew
        loopCount = settings.loops ?? min(4, max(1, ProcessInfo.processInfo.activeProcessorCount))
        adminSocketPath = AdminSocketPath.of(settings, loaded.sources.environment)
        if let path = settings.store.path {
            storePath = path == ":memory:" ? path : URL(filePath: path).path
        } else if let folder = UserFolders(loaded.sources.environment).cache {
            storePath = "\(folder)/store.sqlite"
        } else if mayForgetWhatIsNew {
            storePath = ":memory:"
        } else {
            Terminal.talk("store.path: neither XDG_CACHE_HOME nor HOME says where the store may stand; use --store PATH\n")
            throw ExitCode(2)
        }
    }
}
