import ArgumentParser
import CommandEnvironment

/// The answer to DNS queries in a command's own network namespace.
enum NamesInside: String, CaseIterable, ExpressibleByArgument {
    /// DNS queries get no answer.
    case fail
    /// Each name resolves to the address that Larder listens on.
    case listener
}

/// The options that give a command its own network namespace.
struct NetworkOptions: ParsableArguments {
    @Flag(help: "Run the command in a network namespace where it can reach only Larder.")
    var netns = false

    @Option(
        help: """
            With --netns: how Larder answers the command's own DNS queries. fail: without an address; listener: with the \
            address that Larder listens on.
            """)
    var names = NamesInside.fail

    func validate() throws {
        if names == .listener, !netns { throw ValidationError("--names listener needs --netns.") }
    }

    /// - Returns: `nil` if no namespace was requested.
    /// - Throws: exit code 125, after reporting why the namespace cannot be created.
    func network(in folder: PrivateFolder) throws(ExitCode) -> OwnNetwork? {
        try netns ? Self.network(reaching: names == .listener ? .names : .listener, in: folder) : nil
    }

    /// - Throws: exit code 125, after reporting why the namespace cannot be created.
    static func network(reaching reach: NetworkReach, in folder: PrivateFolder) throws(ExitCode) -> OwnNetwork {
        do throws(OwnNetwork.Refusal) {
            return try OwnNetwork(reaching: reach, filesIn: folder)
        } catch { throw EphemeralProxy.fail(error.reason) }
    }
}
