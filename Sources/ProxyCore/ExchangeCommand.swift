/// A request of an exchange to its driver. Payloads are trivial; larger values are read from the exchange.
@usableFromInline
package enum ExchangeCommand: Equatable, Sendable {
    /// Verify `credentials`. Reply: `credentialsJudged`.
    case judgeCredentials
    /// Count the request under the limits of its rules (`limitDemands`). Reply: `requestCounted`.
    case countRequest
    /// Ask an approver whether the request may continue. Reply: `approvalAnswered`.
    case askApprover
    /// Find `key` in the store: in memory, or on disk. If memory cannot tell whether the key is stored, the driver also reads the disk.
    /// Reply: `lookedUp`.
    case lookUp(onDisk: Bool)
    /// Gather the request's body. Reply: `requestBodyEnded`, `requestBodyTooLong`, `upstreamFailed`.
    case gatherRequestBody
    /// Look up the request in the recordings. Reply: `recordingFound`, `recordingLookedUp`.
    case lookUpRecording
    /// Find the recordings nearest to a request that none of them matches. Reply: `nearestFound`.
    case findNearest
    /// Record the request, and the response of the fetch that follows. No reply.
    case beginRecording
    /// Join the fetch in flight for `key`, or start one that other requests can join. Reply: `leadsFetch`, `fetchShared`, `fetchNotShared`,
    /// `fetchAbandoned`, `fetchesAlone`, and `waitEnded` after `longestWait`.
    case joinFetch
    /// Read `joinedBody` from the store while it is received. Reply: `fetchShared`, `fetchNotShared`.
    case joinBody
    /// Validate `selected` in another exchange, unless such a validation is in progress. No reply.
    case validateInBackground
    /// Fetch the missing rest of a stored part in another exchange, after the current fetch (`fill`). No reply.
    case fillRest
    /// Send `writeForwardedHead` and the request's body to the origin. Reply: `upstreamHead`, `upstreamFailed`; `protocolSwitched` if
    /// `isForSwitch`.
    case fetch
    /// Deliver `selected`: `writeStoredHead`, then its body or the parts that `delivery` has chosen. Reply: `deliveryEnded`.
    case sendStored
    /// Deliver `selected` as described by `completion`: partly from the store and partly from the origin. The bytes from the origin are
    /// stored too. Reply: `deliveryEnded`, `completionRefused`.
    case complete
    /// Deliver the upstream's response: `writeRelayedHead`, then its body. `store`: also store it under `key`. Reply:
    /// `deliveryEnded`.
    case relay(store: Bool)
    /// Gather the upstream's body, up to `gatheredLimit`, check it and transform it as rules require. Reply: `bodyChecked`.
    case checkBody
    /// Transform the content of `selected` as rules require. Reply: `transformed`.
    case transform
    /// Verify the chain recorded with `selected` under the active trust policy. Reply: `recordedChainJudged`.
    case judgeRecordedChain
    /// Deliver the upstream's response, which is being recorded: `writeRelayedHead`, then its body, or the requested part of it. Reply:
    /// `deliveryEnded`.
    case relayRecorded
    /// Deliver the body that was gathered and checked. `store`: also store it. Reply: `deliveryEnded`.
    case sendChecked(store: Bool)
    /// Discard the upstream's body: read it to its end if that is cheap, otherwise close the connection.
    case discardUpstreamBody
    /// Replace the responses in `freshened` in the store, in order. If `selected` is among them, give it to the requests that joined.
    case freshen
    /// Remove the responses in `removed` from the store.
    case remove
    /// Tell the requests that joined that this fetch has nothing to share.
    case releaseJoined
    /// Invalidate `invalidatedKeys`.
    case invalidate
    /// Purge the responses stored under the keys of `incoming.purge`. Reply: `purged`.
    case purge
    /// Deliver `writeError`. Reply: `deliveryEnded`.
    case sendError
    /// Deliver `writeLocal` (OPTIONS, TRACE, PURGE). Reply: `deliveryEnded`.
    case sendLocal
    /// Connect to the authority. An intercepted tunnel connects to nothing yet, and is reported as open at once. Reply: `tunnelOpened`,
    /// `upstreamFailed`.
    case openTunnel
    /// Send 200 and relay bytes in both directions until both have ended. In an intercepted tunnel, the client's first bytes decide
    /// whether bytes are relayed or requests are read. Reply: `deliveryEnded`, `tunnelRefused`.
    case splice
    /// Deliver `writeSwitchedHead` and relay bytes in both directions until both have ended. Reply: `deliveryEnded`.
    case relaySwitched
    /// The client has received its part: receive the rest only for the store, unless another request's fetch brings the rest.
    case completeUpstream
    /// Cancel the request to the origin.
    case cancelUpstream
    /// Close the client's connection so that the message cannot be treated as a complete one.
    case abortClient
    /// The exchange has ended. `trace` is complete, and the client's connection may read its next request.
    case finish
}
