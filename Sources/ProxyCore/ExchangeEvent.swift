import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// An event for an exchange. The event carries all its data, except the request's head, which the parser has written into the exchange.
///
/// Rare events with much data are `indirect`: the events of a hit stay small and need no allocation.
package enum ExchangeEvent: Sendable {
    /// The sender of the request, if anything is known about it. Precedes `requestHead`.
    case sender(RequestSender)
    /// The request's head is complete and in `request`; its body, if any, has this length.
    case requestHead(body: BodyLength, at: Timestamp)
    /// A response that was served stale is to be validated, and this exchange makes the fetch for its key, which others may join
    /// (`begin(id:validating:)`).
    case validates(at: Timestamp)
    /// The missing bytes of a partial response are to be fetched, and this exchange makes the fetch for its key, which others may join
    /// (`begin(id:fill:completion:)`).
    case fills(at: Timestamp)
    /// The request in `request` is refused because of a fault that was found outside the exchange.
    case requestRefused(Fault, at: Timestamp)
    /// The bytes on the connection were not a request.
    case requestRejected(Fault, at: Timestamp)
    /// The counts of the matching rules' limits permit the request, or refuse it.
    indirect case requestCounted(LimitRefusal?, at: Timestamp)
    /// An approver has answered whether the request may continue, or nobody will.
    indirect case approvalAnswered(ApprovalAnswer, at: Timestamp)
    /// A tunnel that Larder does not intercept is to be opened, and an approver has to allow it first (`needsApproval`).
    case tunnelHeld(at: Timestamp)
    /// Content has reached the limit of a rule. Precedes the event for the resulting failure.
    indirect case limitReached(LimitRefusal)
    case credentialsJudged(CredentialsJudgement, at: Timestamp)
    /// The request's body has been read to its end.
    /// - Parameter content: The whole content, if it was to be gathered.
    case requestBodyEnded(content: [UInt8], at: Timestamp)
    /// The body to be gathered is longer than `gatheredRequestLimit`.
    case requestBodyTooLong(at: Timestamp)
    /// The recording that answers the request, as a stored response.
    /// - Parameters:
    ///   - isLengthTold: The response has a Content-Length.
    ///   - layer: The index of the replayed recording.
    case recordingFound(StoredResponse, isLengthTold: Bool, layer: UInt8, at: Timestamp)
    /// Any other result of the look-up in recordings.
    indirect case recordingLookedUp(ReplayLookup, at: Timestamp)
    /// The recordings nearest to a request that is not recorded; `nil` if they could not be searched for.
    indirect case nearestFound(NearMissReport?, at: Timestamp)
    /// The exchange no longer records or replays.
    case recordingsLeft
    /// The responses stored in part under the key, and those being stored, if any. Precedes `lookedUp`.
    case partsFound([PartialResponse], inFlight: [BodyUnderWay])
    /// The stored responses under the key. `isComplete` is `false` if the disk may have more.
    case lookedUp([StoredResponse], isComplete: Bool, at: Timestamp)
    /// No other request is fetching this key, so this exchange fetches for all requests that join.
    case leadsFetch(at: Timestamp)
    /// This exchange leads the fetch, and the shared tier has this response, which the local store has now too.
    case sharedFound(StoredResponse, at: Timestamp)
    /// A recent response for this key could not be shared, so requests do not wait for each other. This exchange fetches only for
    /// its own client.
    case fetchesAlone(at: Timestamp)
    /// The joined fetch has a response that may be shared.
    /// - Parameter length: The length of its body if it is still in flight; otherwise `nil`.
    case fetchShared(StoredResponse, length: BodyLength? = nil, at: Timestamp)
    /// The joined fetch ended without a response, because its own client left. One of the waiting requests now starts another fetch.
    case fetchAbandoned(at: Timestamp)
    /// The joined fetch took longer than rules allow to wait.
    case waitEnded(at: Timestamp)
    /// The joined fetch has nothing to share, so each request that joined fetches for itself.
    case fetchNotShared(at: Timestamp)
    /// The final response's head.
    /// - Parameters:
    ///   - trust: The mark of the trust policy that accepted the server; 0 without TLS.
    /// - chain: The server's certificate chain, to be stored with the response; `nil` without TLS.
    case upstreamHead(ReceivedHead, body: BodyLength, trust: UInt64 = 0, chain: RecordedChain? = nil, at: Timestamp)
    /// The origin has answered 101, with this head, to a request to switch protocols.
    case protocolSwitched(ReceivedHead, at: Timestamp)
    /// The server is not trusted. Precedes the event for the resulting failure.
    case serverRejected(TrustRefusal)
    case upstreamFailed(Fault, at: Timestamp)
    /// The store cannot receive the missing part of a response now; nothing was sent.
    case completionRefused(at: Timestamp)
    /// The body check has ended, and so has the transform, if rules require one. `length`: the length of the whole body; `nil` if it was
    /// not gathered to its end.
    indirect case bodyChecked(BodyCheckOutcome, transform: TransformEnd? = nil, length: UInt64?, at: Timestamp)
    /// The transform of the stored response has ended; `nil` in a dry run.
    /// - Parameter length: The length of the stored body, if it was read to its end for the transform and is delivered from memory.
    indirect case transformed(TransformEnd?, length: UInt64? = nil, at: Timestamp)
    /// The response will not be stored, although storing it was planned or had begun.
    case storageRefused(StorageRefusal)
    /// The whole body has arrived, and is being stored.
    case bodyStored
    /// The origin sends the complete body instead of a part, and it is being stored: the client reads its part from the store.
    case wholeStored
    case recordedChainJudged(ChainJudgement, at: Timestamp)
    /// The purge has ended; `nil` if it could not begin.
    case purged(count: Int?, at: Timestamp)
    /// A tunnel that Larder does not intercept is to be opened, if `tunnelFault` permits it.
    case tunnelPlanned
    /// The tunnel to the origin is open; or it is intercepted, and has no connection to any server yet.
    case tunnelOpened(at: Timestamp)
    /// The tunnel is refused because of its client's first bytes; none of them were sent to the origin.
    case tunnelRefused(Fault, at: Timestamp)
    /// The connection closes after this response: the rest of the request will not be read. Precedes writing the head.
    case connectionEnds
    /// The driver has nothing left to send, or the body failed. The last bytes may still be in the connection's output. A body of
    /// at most 16 KiB from memory is always in the output when this event occurs. It is written after the exchange has ended.
    case deliveryEnded(isComplete: Bool, at: Timestamp)
    case clientGone(at: Timestamp)
}
