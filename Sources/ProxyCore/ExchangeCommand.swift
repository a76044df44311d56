/// What an exchange asks of its driver. Payloads are trivial; larger things are read from the exchange.
@usableFromInline
package enum ExchangeCommand: Equatable, Sendable {
    /// Look whether `credentials` are good. Answer: `credentialsJudged`.
    case judgeCredentials
    /// Find `key` in the store: in memory, or on the disk too. Answer: `lookedUp`.
    case lookUp(onDisk: Bool)
    /// Gather the request's body. Answer: `requestBodyEnded`, `requestBodyTooLong`, `upstreamFailed`.
    case gatherRequestBody
    /// Ask the recordings. Answer: `recordingLookedUp`.
    case lookUpRecording
    /// Look for the recordings that come near to a request that none of them answers. Answer: `nearestFound`.
    case findNearest
    /// Record the request, and what the fetch that follows brings. No answer.
    case beginRecording
    /// Join the fetch under way for `key`, or lead one. Answer: `leadsFetch`, `fetchShared`, `fetchNotShared`,
    /// `fetchesAlone`, and `waitEnded` after `longestWait`.
    case joinFetch
    /// Read `joinedBody` along from the store. Answer: `fetchShared`, `fetchNotShared`.
    case joinBody
    /// Have another exchange ask the origin whether `selected` still holds, unless that is being asked already. No answer.
    case validateInBackground
    /// Have another exchange fetch the rest of what is stored in part, behind the fetch at hand (`fill`). No answer.
    case fillRest
    /// Send `writeForwardedHead` and the request's body to the origin. Answer: `upstreamHead`, `upstreamFailed`;
    /// `protocolSwitched` where it `isForSwitch`.
    case fetch
    /// Answer from `selected`: `writeStoredHead`, then its body or the part `deliveredRange`. Answer: `deliveryEnded`.
    case sendStored
    /// Answer with `selected`, of which `completion` is stored in part and comes in part from the upstream, which is stored too.
    /// Answer: `deliveryEnded`, `completionRefused`.
    case complete
    /// Answer with the upstream's response: `writeRelayedHead`, then its body. `store`: keep it under `key` while it passes.
    case relay(store: Bool)
    /// Gather the upstream's body, up to `gatheredLimit`, check it and make of it what rules want (`transformEnd`). Answer: `bodyChecked`.
    case checkBody
    /// Make of the content of `selected` what rules want. Answer: `transformed`.
    case transform
    /// Have the active trust policy judge the chain that was recorded with `selected`. Answer: `recordedChainJudged`.
    case judgeRecordedChain
    /// Answer with the upstream's response, which is being recorded: `writeRelayedHead`, then its body, or the part of it that was asked
    /// for. Answer: `deliveryEnded`.
    case relayRecorded
    /// Answer with the body that was gathered and checked. `store`: keep it.
    case sendChecked(store: Bool)
    /// Let the upstream's body go: read its end if that is cheap, else close the connection.
    case discardUpstreamBody
    /// Replace what is in `freshened` in the store, in its order, and give `selected` to those who joined where it is among it.
    case freshen
    /// Remove what is in `removed` from the store.
    case remove
    /// Tell those who joined that this fetch brings nothing to share.
    case releaseJoined
    /// Remove what `invalidatedKeys` names.
    case invalidate
    /// Purge what is stored under `purgedKeys`. Answer: `purged`.
    case purge
    /// Answer with `writeError`. Answer: `deliveryEnded`.
    case sendError
    /// Answer with `writeLocal` (OPTIONS, TRACE, PURGE). Answer: `deliveryEnded`.
    case sendLocal
    /// Connect to the authority. Answer: `tunnelOpened`, `upstreamFailed`.
    case openTunnel
    /// Answer 200 and move bytes both ways until both have ended. Answer: `deliveryEnded`.
    case splice
    /// Answer with `writeSwitchedHead` and move bytes both ways until both have ended. Answer: `deliveryEnded`.
    case relaySwitched
    /// The client has its part: what is still to come upstream is for the store, unless another request's fetch brings it.
    case completeUpstream
    /// Stop what is under way upstream.
    case cancelUpstream
    /// End the client's connection so that it cannot be taken for a complete message.
    case abortClient
    /// The exchange is over: `trace` is complete, the connection may read its next request.
    case finish
}
