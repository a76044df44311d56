import HTTPCaching
import HTTPMessage

/// What an exchange hears from the world. An event carries all that it tells; only the request's head lies in the exchange already, where the
/// parser has written it.
///
/// The rare ones that carry much are `indirect`: what a hit is told of stays small, and nothing is allocated for it.
package enum ExchangeEvent: Sendable {
    /// Who sends the request, where there is something to tell of that. Comes before `requestHead`.
    case sender(RequestSender)
    /// The request's head is complete and stands in `request`; its body, if any, is this long.
    case requestHead(body: BodyLength, at: Timestamp)
    /// What was served stale is to be validated, and this exchange leads the fetch of its key (`begin(id:validating:)`).
    case validates(at: Timestamp)
    /// What is missing of a response in part is to be fetched, and this exchange leads the fetch of its key (`begin(id:fill:completion:)`).
    case fills(at: Timestamp)
    /// The request in `request` is not carried out, for a fault that is seen outside.
    case requestRefused(Fault, at: Timestamp)
    /// The bytes on the connection were no request.
    case requestRejected(Fault, at: Timestamp)
    case credentialsJudged(CredentialsJudgement, at: Timestamp)
    /// The request's body has been read to its end.
    /// - Parameter content: All of it, where it was to be gathered.
    case requestBodyEnded(content: [UInt8], at: Timestamp)
    /// The body that was to be gathered is longer than `gatheredRequestLimit`.
    case requestBodyTooLong(at: Timestamp)
    /// The request is recorded, and this is the answer, as one that is stored.
    /// - Parameters:
    ///   - isLengthTold: The response has a Content-Length.
    ///   - layer: In which of those that are replayed it stands.
    case recordingFound(StoredResponse, isLengthTold: Bool, layer: UInt8, at: Timestamp)
    /// What recordings have else for the request.
    indirect case recordingLookedUp(ReplayLookup, at: Timestamp)
    /// What comes near to a request that is not recorded; `nil` where that could not be looked for.
    indirect case nearestFound(NearMissReport?, at: Timestamp)
    /// Nothing of the exchange is recorded or replayed any more.
    case recordingsLeft
    /// What is stored in part under the key, and what is being stored under it, where there is either. Comes before `lookedUp`.
    case partsFound([PartialResponse], inFlight: [BodyUnderWay])
    /// What the store has under the key. `isComplete` is false while the disk may hold more.
    case lookedUp([StoredResponse], isComplete: Bool, at: Timestamp)
    /// Nobody else is fetching this key: this exchange asks the origin for all.
    case leadsFetch(at: Timestamp)
    /// What came for this key lately could not be shared, so nobody waits for anybody: this exchange asks for itself.
    case fetchesAlone(at: Timestamp)
    /// The fetch that was joined brought a response that may be shared.
    /// - Parameter length: How much of it is to come, where its body is still in flight; else `nil`.
    case fetchShared(StoredResponse, length: BodyLength? = nil, at: Timestamp)
    /// The fetch that was joined ended without an answer, since its own client left: another leads now.
    case fetchAbandoned(at: Timestamp)
    /// The fetch that was joined took longer than the rules let anyone wait.
    case waitEnded(at: Timestamp)
    /// The fetch that was joined brought nothing to share: each asks for itself.
    case fetchNotShared(at: Timestamp)
    /// The final response's head.
    /// - Parameters:
    ///   - trust: The mark of the trust policy that accepted the server; 0 without TLS.
    ///   - chain: What the server showed, to be kept with what is stored; `nil` without TLS.
    case upstreamHead(ReceivedHead, body: BodyLength, trust: UInt64 = 0, chain: RecordedChain? = nil, at: Timestamp)
    /// The origin has answered 101 to a request for another protocol, with that head.
    case protocolSwitched(ReceivedHead, at: Timestamp)
    /// The server is not trusted. Comes before the event that tells what ends by that.
    case serverRejected(TrustRefusal)
    case upstreamFailed(Fault, at: Timestamp)
    /// The store cannot take what is missing of a response now; nothing was sent.
    case completionRefused(at: Timestamp)
    /// The body check that was asked for has ended, and the making of what rules want, where they want something. `length`: the whole body's;
    /// `nil` where not all of it was gathered.
    indirect case bodyChecked(BodyCheckOutcome, transform: TransformEnd? = nil, length: UInt64?, at: Timestamp)
    /// How what was to be made of the stored response ended; `nil` in a dry run.
    /// - Parameter length: The stored body's, where it was read to its end for that, and comes from memory from here on.
    indirect case transformed(TransformEnd?, length: UInt64? = nil, at: Timestamp)
    /// The response is not stored after all.
    case storageRefused(StorageRefusal)
    /// The body has come whole, and is on its way to the store.
    case bodyStored
    /// The whole comes in place of a part, and goes into the store: the client reads its part from there.
    case wholeStored
    case recordedChainJudged(ChainJudgement, at: Timestamp)
    /// The purge has come to its end; `nil` where it could not be begun.
    case purged(count: Int?, at: Timestamp)
    /// The tunnel to the origin stands.
    case tunnelOpened(at: Timestamp)
    /// The tunnel ends for what its client sent first, of which the origin got nothing.
    case tunnelRefused(Fault, at: Timestamp)
    /// The connection ends with this answer: what is left of the request on it will not be read. Comes before the head is written.
    case connectionEnds
    /// The last byte of the response was handed to the client's connection, or the body ended badly.
    case deliveryEnded(isComplete: Bool, at: Timestamp)
    case clientGone(at: Timestamp)
}
