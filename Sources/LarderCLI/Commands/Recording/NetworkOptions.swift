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
    @Flag(help: "The command gets a network of its own, from which nothing but Larder is reached.")
    var netns = false

    @Option(
        help: """
            With --netns, what names stand for that the command looks up by itself: fail, for nothing; listener, for the address at which \
            Larder listens.
            """)
    var names = NamesInside.fail

    func validate() throws {
        if names == .listener, !netns { throw ValidationError("--names listener is for --netns.") }
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
