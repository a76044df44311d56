import HTTPWire

/// Limits on the data and the time that a client of the admin socket can use, with their defaults. Times are in milliseconds.
package struct AdminLimits: Sendable {
    /// Simultaneous clients; further ones get 503.
    package var clients = 16
    /// How many of the clients beyond `clients` may receive a 503 at the same time. The connections of all others are closed without a
    /// response.
    package var refusals = 16
    /// The limit on the time from the start of the connection to the end of the request.
    package var request = 10_000
    /// How long a route may take until its response, or the next piece of it, is ready.
    package var answer = 60_000
    /// How long a client may accept no byte of the response. The time is long, because a person may page through a list.
    package var idle = 600_000
    /// How long a connection is kept after the response so that the client can read it.
    package var lingering = 2_000
    /// How long a page's listener stays open without a client.
    package var unused = 900_000
    /// The longest body of a request, in bytes; the client gets 413 for a longer one.
    package var bodyLength = 256 * 1024
    package var head = Self.heads

    package init() {}

    /// The limits for the page's listener. Each open page has a connection for events, and a browser opens several more.
    package static var ofPage: AdminLimits {
        var limits = AdminLimits()
        limits.clients = 64
        return limits
    }

    private static var heads: ParseLimits {
        var limits = ParseLimits()
        limits.requestLineLength = 16 * 1024
        limits.headLength = 32 * 1024
        limits.fieldCount = 64
        return limits
    }
}
