/// What bounds the memory and the work that names and passwords take, each with its default.
package struct CredentialsLimits: Equatable, Sendable {
    /// How many names with their passwords are remembered as good.
    package var verifiedCount = 1024
    /// For how long, in milliseconds; after that they are looked at again.
    package var verifiedMilliseconds: Int64 = 3_600_000
    /// How many different ones may wait to be looked at, those under way among them; further requests are answered 503.
    package var waiting = 128
    /// How many of those may be one client's address's.
    package var waitingOfOneClient = 96
    /// How many requests may wait for the same one.
    package var waitingForOne = 1024
    /// How many looks one client's address is allowed that find nothing good; further requests are answered 429.
    package var attempts = 20
    /// After how many milliseconds it is allowed one more.
    package var attemptMilliseconds: Int64 = 3_000
    /// How many addresses that is counted for.
    package var addresses = 4096

    package init() {}
}
