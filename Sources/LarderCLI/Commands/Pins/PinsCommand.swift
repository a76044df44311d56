import ArgumentParser
import PinTools

struct PinsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pins", abstract: "Learn, check, change, export and import pins.",
        subcommands: [Learn.self, Check.self, Audit.self, Rotate.self, Export.self, Import.self])
}

extension PinFormat: ExpressibleByArgument {}
extension NamedServer: ExpressibleByArgument {}
