import ArgumentParser
import CommandEnvironment
import CommandSupport
import LarderSettings
import TextCoding

extension AttachedProxy {
    /// - Throws: exit code 1, after reporting the problem.
    init(_ loaded: LoadedSettings, over given: [String: String], filesIn place: Place) throws {
        let client = try RunningLarder.connect(loaded)
        do throws(AttachedProxy.Failure) {
            try self.init(
                client, over: given, filesIn: place, asksEverybody: loaded.settings.clients.asksEverybody)
        } catch {
            Terminal.talk("larder: \(printable("\(error)", limit: 4096))\n")
            throw ExitCode.failure
        }
    }
}
