import ArgumentParser
import CommandSupport
import LarderSettings
import PinTools
import ProxyAdmin

extension RecordedServers {
    /// Reads from the running Larder if there is one, else from the store's file.
    /// - Throws: exit code 1, after reporting why there is nothing to read.
    init(of loaded: LoadedSettings) throws {
        var octets: [UInt8] = []
        if let running = try RunningLarder.find(loaded) {
            try RunningCache(path: running.path).send("GET", "chains", []) { octets += $0 }
        } else {
            let path = try ServingPlan(loaded).storePath
            guard path != ":memory:" else {
                Terminal.talk("larder: the store is in memory only, and Larder is not running\n")
                throw ExitCode.failure
            }
            let file = try StoreFileAccess(path: path, settings: loaded.settings)
            try file.send(CacheAnswers.chains(file.source)) { octets += $0 }
        }
        self.init(octets)
    }
}
