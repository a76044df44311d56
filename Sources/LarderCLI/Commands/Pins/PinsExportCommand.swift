import ArgumentParser
import CommandSupport
import LarderSettings
import PinTools
import ServerTrust
import TextCoding

extension PinsCommand {
    struct Export: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "export", abstract: "Print the pins in the settings in the format of another program.",
            discussion:
                "Standard error lists the properties that the format cannot express. The output omits the pins of tls.default, because they belong to no host."
        )

        @Option(name: [.short, .long], help: "The format: android-nsc, trustkit, okhttp, curl, hpkp or json.")
        var format: PinFormat

        @OptionGroup var options: SettingsOptions

        func run() throws {
            let settings = try options.load(trustFiles: TrustFiles()).settings
            var notes: [String] = []
            let now = POSIXTime.now
            let text = format.written(settings.tls.loaded?.pinned ?? [], at: now, notes: &notes)
            for site in settings.tls.loaded?.sites ?? [] where site.terms.pins != nil {
                let others = site.wordsWithoutPins.map(\.key)
                if let name = site.entry?.name, !others.isEmpty {
                    notes.append("\(name): the export omits these parts of the policy: \(others.joined(separator: ", "))")
                }
            }
            for note in notes { Terminal.talk("larder: \(printable(note, limit: 4096))\n") }
            Terminal.output(text)
        }
    }
}
