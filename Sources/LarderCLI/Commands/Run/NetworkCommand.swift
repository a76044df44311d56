import ArgumentParser
import CLarderLinux
import CommandEnvironment
import Foundation

/// An internal subcommand. `OwnNetwork` runs it in a new process, because the system calls need a process with a single thread.
struct NetworkCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: OwnNetwork.commandName, abstract: "Create a network namespace, or enter one and execute a program.",
        shouldDisplay: false)

    @Option(help: "Create a network namespace, and send its descriptors through this socket.")
    var make: Int32?

    @Option(help: "With --make: the ports at which the namespace can reach Larder.")
    var reach = NetworkReach.listener

    @Option(help: "Descriptors of the namespaces to enter.")
    var through: [Int32] = []

    @Option(help: "Libraries to load into the program.")
    var preload: String?

    @Option(help: "A file to mount at the path in --over. Repeatable, in the same order as --over.")
    var file: [String] = []

    @Option(help: "The path at which to mount a file.")
    var over: [String] = []

    @Argument(parsing: .postTerminator, help: "The program's path, and its arguments.")
    var program: [String] = []

    func run() throws {
        if let make {
            NetworkMaking.handOver(to: make, reach: reach)
        } else if program.count > 1 {
            let words = InheritedText().last(Array(program.dropFirst()))
            if let preload { setenv(OwnNetwork.preload, preload, 1) }
            let files = zip(file, over).map { MountedFile(file: $0, place: $1) }
            throw ExitCode(NetworkEntering.become(program[0], words, through: through, mounting: files))
        }
    }
}

extension NetworkReach: ExpressibleByArgument {}
