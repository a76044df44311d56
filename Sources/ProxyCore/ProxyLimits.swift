/// Everything that a peer can grow while an exchange is under way, each with its default.
package struct ProxyLimits: Equatable, Sendable {
    /// The longest request body that is passed on, in bytes; more is answered 413. `nil`: no limit.
    package var requestBodyLength: UInt64?
    /// The most of a request body that is read and thrown away so that the connection can be used again, in bytes.
    package var drainedBodyLength: UInt64 = 64 * 1024
    /// The most of a response that waits for a slow client, in bytes; past it the upstream is not read.
    package var relayWindow = 256 * 1024
    /// Up to this length a response body is gathered and stored as one piece, in bytes.
    package var gatheredBodyLength = 16 * 1024
    /// Up to this length a request's body can stand in the key, in bytes; a longer one is passed on.
    package var keyedBodyLength = 64 * 1024
    /// Up to this length a request's body is gathered to be recorded, and to be looked for among recordings, in bytes.
    package var recordedRequestLength = 8 * 1024 * 1024
    /// What the bodies of requests that are gathered take in memory in all, in bytes; where there is no room, the answer is 503.
    /// Eight of the longest fit, each of which is read as fast as its client sends it.
    package var gatheredRequestBytes = 64 * 1024 * 1024
    /// How many searches for what comes near to a request that no recording answers may wait; further ones are left to a command.
    package var waitingSearches = 16
    /// What each loop keeps in memory of the answers that it has replayed, in bytes; what finds no room is read again.
    package var replayedBytes = 16 * 1024 * 1024
    /// How much of what is recorded may wait for the disk in memory, in bytes; past it no origin is read.
    package var recordedWindow = 8 * 1024 * 1024
    /// How far a body under way may be before the first byte of a request that reads it along, in bytes.
    package var joinedDistance: UInt64 = 1 << 20
    /// How many validations for which no client waits may be under way in all; beyond that a stale response is served unasked.
    package var backgroundValidations = 32
    /// How long nothing is asked about a key for which such a validation has failed, in milliseconds.
    package var backgroundRetryDelay: Int64 = 1_000
    /// How many gathered bodies may wait for their check in all; further ones are answered 503.
    package var waitingChecks = 32
    /// How many requests may wait for the judgement of a recorded chain in all; further ones are answered as if none were recorded.
    package var waitingJudgements = 1024
    /// What the bodies that are gathered for a check may take in memory in all, in bytes; where there is no room, the answer is 503.
    package var checkedBytes = 64 * 1024 * 1024
    /// What rules have made of stored responses' content is kept in memory up to so many bytes in all. What finds no room is made
    /// again, so a limit too low costs time and fails no request.
    package var transformedBytes = 64 * 1024 * 1024
    /// The pipelined requests' answers that are gathered before they are written, in bytes.
    package var pipelinedOutput = 64 * 1024

    package init() {}
}
