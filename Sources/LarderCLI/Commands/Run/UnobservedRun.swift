/// A run in which no request came through Larder. Either the command sent no request, or its requests bypassed the proxy: Larder cannot
/// tell which, unless the command had a network namespace from which only Larder can be reached.
struct UnobservedRun {
    private let hasOwnNetwork: Bool
    /// Whether the subcommand has `--netns`.
    private let offersNetwork: Bool

    /// - Returns: `nil` if Larder received a request, or if requests were not counted.
    init?(_ tally: RequestTally?, hasOwnNetwork: Bool, offersNetwork: Bool = true) {
        guard let tally, !tally.sawClient else { return nil }
        self.hasOwnNetwork = hasOwnNetwork
        self.offersNetwork = offersNetwork
    }

    /// Whether the run fails under `--strict`. In its own network namespace the command could reach only Larder, so it sent no request at
    /// all, which is no failure.
    var failsStrict: Bool { !hasOwnNetwork }

    /// The message for the summary and for standard error.
    var sentence: String {
        if hasOwnNetwork {
            return "the command sent no request: in its network namespace (--netns) it could reach only Larder"
        }
        let verbs = offersNetwork ? "--netns" : "larder run --netns, larder record --netns or larder replay --netns"
        return "no request came through Larder: either the command sent no request, or it ignores the proxy variables; "
            + "\(verbs) runs it in a network namespace where it can reach only Larder"
    }
}
