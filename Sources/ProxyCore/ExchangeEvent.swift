import HTTPCaching
import HTTPMessage

/// What an exchange hears from the world. Larger things lie in the exchange before the event is given:
/// `request`, `response`.
package enum ExchangeEvent: Sendable {
    /// The request's head is complete and stands in `request`; its body, if any, is this long.
    case requestHead(body: BodyLength, at: Timestamp)
    /// What was served stale is to be validated, and this exchange leads the fetch of its key (`begin(id:validating:)`).
    case validates(at: Timestamp)
    /// What is missing of a response in part is to be fetched, and this exchange leads the fetch of its key (`begin(id:filling:)`).
    case fills(at: Timestamp)
    /// The request in `request` is not carried out, for a fault that is seen outside.
    case requestRefused(Fault, at: Timestamp)
    /// The bytes on the connection were no request.
    case requestRejected(Fault, at: Timestamp)
    case credentialsJudged(CredentialsJudgement, at: Timestamp)
    /// The request's body has been read to its end; where it was to be gathered, it stands in `requestContent`.
    case requestBodyEnded(at: Timestamp)
    /// The body that was to be gathered is longer than `gatheredRequestLimit`.
    case requestBodyTooLong(at: Timestamp)
    /// `recollection` says what recordings have for the request.
    case recalled(at: Timestamp)
    /// `recollection` is a miss, and says what comes near to the request, where that could be looked for.
    case nearestFound(at: Timestamp)
    /// What the store has under the key. `isComplete` is false while the disk may hold more.
    case lookedUp([StoredResponse], isComplete: Bool, at: Timestamp)
    /// Nobody else is fetching this key: this exchange asks the origin for all.
    case leadsFetch(at: Timestamp)
    /// What came for this key lately could not be shared, so nobody waits for anybody: this exchange asks for itself.
    case fetchesAlone(at: Timestamp)
    /// The fetch that was joined brought a response that may be shared.
    case fetchShared(StoredResponse, at: Timestamp)
    /// The fetch that was joined ended without an answer, since its own client left: another leads now.
    case fetchAbandoned(at: Timestamp)
    /// The fetch that was joined took longer than the rules let anyone wait.
    case waitEnded(at: Timestamp)
    /// The fetch that was joined brought nothing to share: each asks for itself.
    case fetchNotShared(at: Timestamp)
    /// The final response's head stands in `response`.
    case upstreamHead(body: BodyLength, at: Timestamp)
    /// The origin has answered 101 to a request for another protocol; that head stands in `response`.
    case protocolSwitched(at: Timestamp)
    case upstreamFailed(Fault, at: Timestamp)
    /// The store cannot take what is missing of a response now; nothing was sent.
    case completionRefused(at: Timestamp)
    /// The body check that was asked for has ended. `length`: the whole body's; `nil` where not all of it was gathered.
    case bodyChecked(BodyCheckOutcome, length: UInt64?, at: Timestamp)
    /// `transformEnd` says how what was to be made of the stored response ended.
    case transformed(at: Timestamp)
    case recordedChainJudged(ChainJudgement, at: Timestamp)
    /// The purge has come to its end; `nil` where it could not be begun.
    case purged(count: Int?, at: Timestamp)
    /// The tunnel to the origin stands.
    case tunnelOpened(at: Timestamp)
    /// The tunnel ends for what its client sent first, of which the origin got nothing.
    case tunnelRefused(Fault, at: Timestamp)
    /// The last byte of the response was handed to the client's connection, or the body ended badly.
    case deliveryEnded(isComplete: Bool, at: Timestamp)
    case clientGone(at: Timestamp)
}
