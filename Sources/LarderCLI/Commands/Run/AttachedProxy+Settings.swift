import AdminClient
import ArgumentParser
import CommandEnvironment
import CommandSupport
import LarderSettings
import TextCoding

extension AttachedProxy {
    /// - Throws: exit code 1, after reporting the problem.
    init(_ loaded: LoadedSettings, over given: [String: String], filesIn place: Place) throws {
        try self.init(RunningLarder.connect(loaded), loaded.settings, over: given, filesIn: place)
    }

    /// If the options name the Larder, mistakes in the settings are ignored.
    /// - Throws: exit code 1 or 2, after reporting the problem.
    init(_ options: RunningOptions, over given: [String: String], filesIn place: Place) throws {
        guard options.namedSocket != nil else {
            try self.init(options.load(), over: given, filesIn: place)
            return
        }
        let read = SettingsSources(file: options.settings.config, environment: given).load()
        let settings: LarderSettings? = if case .settings(let settings) = read.outcome { settings } else { nil }
        try self.init(options.connect(), settings, over: given, filesIn: place)
    }

    private init(
        _ client: AdminClient, _ settings: LarderSettings?, over given: [String: String], filesIn place: Place
    ) throws {
        do throws(AttachedProxy.Failure) {
            try self.init(
                client, over: given, filesIn: place, asksEverybody: settings?.clients.asksEverybody ?? false)
        } catch {
            Terminal.talk("larder: \(printable("\(error)", limit: 4096))\n")
            throw ExitCode.failure
        }
    }
}
