import ArgumentParser
import PinTools

struct PinsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins", abstract: "Learns, checks and changes pins, passes them on to other programs, and takes them over.",
        subcommands: [Learn.self, Check.self, Audit.self, Rotate.self, Export.self, Import.self])
}

extension PinFormat: ExpressibleByArgument {}
extension NamedServer: ExpressibleByArgument {}
