import ArgumentParser

/// Which time it is while a command is replayed.
enum ReplayClock: String, CaseIterable, ExpressibleByArgument {
    /// Answers are dated as they were; the command has its own clock.
    case recorded
    /// Answers are dated as if they had been recorded just now.
    case shift
    /// The command's clock goes on from when the answers were recorded.
    case freeze
}
