import HTTPWire

/// Everything that a client of the admin socket can grow or draw out, each with its default. Times are in milliseconds.
package struct AdminLimits: Sendable {
    /// Clients at once; further ones are answered 503.
    package var clients = 16
    /// How many of those further ones are told so at once; the rest is closed without a word.
    package var refusals = 16
    /// From the connection's first moment to the end of the request.
    package var request = 10_000
    /// Until a route has its answer ready, or the next piece of it.
    package var answer = 60_000
    /// Without a byte taken by a client that is being answered: a list may be read at a person's pace.
    package var idle = 600_000
    /// How long an answered connection is kept so that the client can read the answer.
    package var lingering = 2_000
    /// Bytes of a request's body; more is answered 413.
    package var bodyLength = 256 * 1024
    package var head = Self.heads

    package init() {}

    private static var heads: ParseLimits {
        var limits = ParseLimits()
        limits.requestLineLength = 16 * 1024
        limits.headLength = 32 * 1024
        limits.fieldCount = 64
        return limits
    }
}
