/// Limits on the memory and the work for password authentication, with their defaults.
package struct CredentialsLimits: Equatable, Sendable {
    /// How many verified credentials are remembered.
    package var verifiedCount = 1024
    /// How long verified credentials are remembered, in milliseconds; after that they are verified again.
    package var verifiedMilliseconds: Int64 = 3_600_000
    /// How many different credentials may wait for verification, including those in progress; further requests get 503.
    package var waiting = 128
    /// How many of the waiting credentials may come from one client address.
    package var waitingOfOneClient = 96
    /// How many requests may wait for the same credentials.
    package var waitingForOne = 1024
    /// How many failed verifications one client address is allowed; further requests get 429.
    package var attempts = 20
    /// The time after which one more failed verification is allowed, in milliseconds.
    package var attemptMilliseconds: Int64 = 3_000
    /// The number of client addresses for which failed verifications are counted.
    package var addresses = 4096

    package init() {}
}
