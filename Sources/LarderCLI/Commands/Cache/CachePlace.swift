import AdminClient
import ArgumentParser
import CommandSupport
import LarderSettings

/// The store that a subcommand works on: the store of a running Larder, or a store's file.
struct CachePlace: ParsableArguments {
    @OptionGroup var settings: RunningOptions

    @Option(help: ArgumentHelp("Read this store file directly, without a running Larder.", valueName: "path"))
    var store: String?

    enum Access {
        case running(RunningCache)
        case file(StoreFileAccess)
    }

    /// - Throws: exit code 1 or 2, after reporting the problem.
    func open() throws -> Access {
        if store == nil, let path = settings.namedSocket, (try? AdminClient(path: path)) != nil {
            return .running(RunningCache(path: path))
        }
        let loaded = try settings.load()
        // This connection only checks that a Larder responds. Each request opens its own connection.
        if store == nil, let running = try RunningLarder.find(loaded) { return .running(RunningCache(path: running.path)) }
        return .file(try file(loaded))
    }

    /// Opens the file, even if a Larder is running.
    /// - Throws: exit code 1 or 2, after reporting the problem.
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
