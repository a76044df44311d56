import ArgumentParser
import CLinux
import CommandEnvironment
import Foundation

/// Not for people: what `OwnNetwork` executes, since it takes a process with one thread.
struct NetworkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OwnNetwork.commandName, abstract: "Makes a network, or goes into one and becomes a program.",
        shouldDisplay: false)

    @Option(help: "Makes a network and hands it over through this socket.")
    var make: Int32?

    @Flag(help: "With --make: also sockets to which questions for names come.")
    var names = false

    @Option(help: "Descriptors of what is gone into.")
    var through: [Int32] = []

    @Option(help: "Libraries that are loaded into the program.")
    var preload: String?

    @Option(help: "A file that is put in the place of /etc/resolv.conf.")
    var resolver: String?

    @Argument(parsing: .postTerminator, help: "The program's file, and the words that it is called with.")
    var program: [String] = []

    func run() throws {
        if let make {
            NetworkMaking.handOver(to: make, answersNames: names)
        } else if program.count > 1 {
            let words = InheritedText().last(Array(program.dropFirst()))
            if let preload { setenv(OwnNetwork.preload, preload, 1) }
            throw ExitCode(NetworkEntering.become(program[0], words, through: through, resolver: resolver))
        }
    }
}
