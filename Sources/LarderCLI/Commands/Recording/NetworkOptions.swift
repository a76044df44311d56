import ArgumentParser
import CommandEnvironment

/// What becomes of names that are looked up in a command's own network.
enum NamesInside: String, CaseIterable, ExpressibleByArgument {
    /// Nobody answers.
    case fail
    /// Each stands for the address at which Larder listens.
    case listener
}

/// The options by which a command gets a network of its own.
struct NetworkOptions: ParsableArguments {
    @Flag(help: "Run the command in a network namespace where it can reach only Larder.")
    var netns = false

    @Option(
        help: """
            With --netns, the answer to the command's own DNS queries: fail, no address; listener, the address that Larder listens on.
            """)
    var names = NamesInside.fail

    func validate() throws {
        if names == .listener, !netns { throw ValidationError("--names listener needs --netns.") }
    }

    /// - Returns: `nil` where none was asked for.
    /// - Throws: 125, after saying why there is none.
    func network(in folder: PrivateFolder) throws(ExitCode) -> OwnNetwork? {
        guard netns else { return nil }
        do throws(OwnNetwork.Refusal) {
            return try OwnNetwork(answeringNamesBy: names == .listener ? folder : nil)
        } catch { throw EphemeralProxy.fail(error.reason) }
    }
}
