import ArgumentParser

/// The clock of a replayed command.
enum ReplayClock: String, CaseIterable, ExpressibleByArgument {
    /// Responses keep their dates; the command uses this machine's clock.
    case recorded
    /// Responses are dated as if they had been recorded just now.
    case shift
    /// The command's clock starts at the time of the recording.
    case freeze
}
