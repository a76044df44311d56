/// A run in which no request came through Larder. Either the command sent none, or it bypassed the proxy: Larder cannot tell which, unless
/// the command had a network namespace from which only Larder can be reached.
struct UnobservedRun {
    private let hasOwnNetwork: Bool
    /// Whether the subcommand has `--netns`.
    private let offersNetwork: Bool

    /// - Returns: `nil` if a request came, or if requests were not counted.
    init?(_ tally: RequestTally?, hasOwnNetwork: Bool, offersNetwork: Bool = true) {
        guard let tally, !tally.sawClient else { return nil }
        self.hasOwnNetwork = hasOwnNetwork
        self.offersNetwork = offersNetwork
    }

    /// In its own network namespace, a command had no other connection: it sent nothing, and `--strict` accepts that.
    var failsStrict: Bool { !hasOwnNetwork }

    /// For the summary and standard error.
    var sentence: String {
        if hasOwnNetwork {
            return "no request came through Larder, and the command's network namespace (--netns) has no other connection"
        }
        let verbs = offersNetwork ? "--netns" : "larder run --netns, larder record --netns or larder replay --netns"
        return "no request came through Larder: the command sent none, or it ignores the proxy variables; "
            + "\(verbs) runs it in a network namespace where it can reach only Larder"
    }
}
