import ArgumentParser
import CommandSupport
import LarderSettings

/// The store that a verb is about: a running Larder's, or a file.
struct CachePlace: ParsableArguments {
    @OptionGroup var settings: RunningOptions

    @Option(help: ArgumentHelp("Read this store file directly, without a running Larder.", valueName: "path"))
    var store: String?

    enum Access {
        case running(RunningCache)
        case file(StoreFileAccess)
    }

    /// - Throws: exit code 1 or 2 after saying what is wrong.
    func open() throws -> Access {
        let loaded = try settings.load()
        // Only to see that a Larder answers: each question has a connection of its own.
        if store == nil, let running = try RunningLarder.find(loaded) { return .running(RunningCache(path: running.path)) }
        return .file(try file(loaded))
    }

    /// Past the Larder that may be running.
    /// - Throws: exit code 1 or 2 after saying what is wrong.
    func openFile() throws -> StoreFileAccess { try file(settings.load()) }

    private func file(_ loaded: LoadedSettings) throws -> StoreFileAccess {
        let path = try store ?? ServingPlan(loaded).storePath
        guard path != ":memory:" else {
            Terminal.talk("larder: the store is in memory only, and Larder is not running\n")
            throw ExitCode.failure
        }
        return try StoreFileAccess(path: path, settings: loaded.settings)
    }
}
