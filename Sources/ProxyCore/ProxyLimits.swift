/// Limits on everything that a peer can make grow during an exchange, each with its default.
package struct ProxyLimits: Equatable, Sendable {
    /// The maximum length of a forwarded request body, in bytes; the client gets 413 for a longer one. `nil` for no limit.
    package var requestBodyLength: UInt64?
    /// The maximum number of bytes of a request body that are read and discarded so that the connection can be reused.
    package var drainedBodyLength: UInt64 = 64 * 1024
    /// The maximum number of response bytes that wait for a slow client; beyond it the origin is not read.
    package var relayWindow = 256 * 1024
    /// The maximum length of a response body that is gathered and stored in one piece, in bytes.
    package var gatheredBodyLength = 16 * 1024
    /// The maximum length of a request body that can be part of the key, in bytes; a request with a longer body is forwarded.
    package var keyedBodyLength = 64 * 1024
    /// The maximum length of a request body that is gathered to be recorded or looked up in recordings, in bytes.
    package var recordedRequestLength = 8 * 1024 * 1024
    /// The maximum total size of gathered request bodies, in bytes; beyond it the response is 503. Eight bodies of the maximum length fit,
    /// each read as fast as its client sends it.
    package var gatheredRequestBytes = 64 * 1024 * 1024
    /// The maximum number of waiting searches for near misses; for further requests no search is made, and the response names a command
    /// that makes it.
    package var waitingSearches = 16
    /// The size of each loop's cache of replayed responses, in bytes; responses that are not in it are read again.
    package var replayedBytes = 16 * 1024 * 1024
    /// The maximum number of recorded bytes that wait for the disk; beyond it no origin is read.
    package var recordedWindow = 8 * 1024 * 1024
    /// A request joins the fetch of a body in flight if the first byte that it needs is at most this many bytes after the last
    /// received byte.
    package var joinedDistance: UInt64 = 1 << 20
    /// The maximum number of background validations; beyond it a stale response is served without validation.
    package var backgroundValidations = 32
    /// The time after a failed background validation before its key is validated again, in milliseconds.
    package var backgroundRetryDelay: Int64 = 1_000
    /// The maximum number of gathered bodies that wait for a check; for further bodies the response is 503.
    package var waitingChecks = 32
    /// The maximum number of requests that wait for the verification of a recorded chain; further requests are answered as if no chain was
    /// recorded.
    package var waitingJudgements = 1024
    /// The maximum total size of bodies gathered for a check, in bytes; beyond it the response is 503.
    package var checkedBytes = 64 * 1024 * 1024
    /// The size of the cache of transformed content, in bytes. Content that is not in the cache is transformed again, so a limit that is
    /// too low costs time, but no request fails.
    package var transformedBytes = 64 * 1024 * 1024
    /// The maximum number of requests that wait for an approver, and of bytes of the texts that describe them. A request beyond these
    /// limits is denied.
    package var heldRequests = 1024
    package var heldBytes = 4 << 20
    /// The maximum number of answers of approvers that apply until Larder stops. Of further answers, each applies once.
    package var rememberedAnswers = 1000
    /// The maximum size of responses to pipelined requests that are combined into one write, in bytes.
    package var pipelinedOutput = 64 * 1024

    package init() {}
}
