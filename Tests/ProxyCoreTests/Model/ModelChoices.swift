/// What the texts leave open, and no sentence of ours has closed: each with its sentence. The model may go either way; the exchange
/// must go one of them.
enum ModelChoice: String {
    /// §4.3.3: "it can either forward this response to the requesting client, or act as if the server failed to respond". And
    /// §4.2.4: stale "if it is disconnected", where nothing forbids it.
    case forwardsWhatDisconnectionWouldLetBeStale
    /// §5.2.1: request directives "are advisory; caches MAY implement them". A client that wants no stored response may get an
    /// error, or the stored response, once the origin server has failed.
    case usesStoredAgainstTheRequestAfterFailure
    /// RFC 9110 §15.6.3 and §15.6.5: what a gateway says where the origin server failed.
    case gatewayTimeoutForFailure
    /// §4.2: "Age" belongs to what is used "without validation"; after one it may be there.
    case omitsAgeAfterValidation
    /// §3: "some caches will not store a response that has neither a cache validator nor an explicit expiration time, as such
    /// responses are not usually useful to store. However, caches are not prohibited from storing such responses."
    case leavesOutWhatIsOfNoUse
    /// §4.1: "A Vary header field value containing a member "*" always fails to match", so keeping it is of no use, yet allowed.
    case keepsWhatNeverMatches
    /// §4.3.1: the preconditions "contain validator metadata sourced from stored response(s)": both validators, or the entity
    /// tag alone.
    case sendsEntityTagAlone
    /// RFC 9110 §13.2.1: "there is no point in sending a conditional HEAD".
    case sendsConditionalHead
    /// §4.3.4 has a 304 freshen "stored 200 (OK) responses", and an origin server ignores preconditions where it would answer otherwise
    /// (RFC 9110 §13.2.1).
    case validatesOtherStatuses
    /// §3 and §3.5: what comes for a request with Authorization is not stored, and so may a 304's fields be left out, which §4.3.4 would
    /// have updated.
    case leavesOutAuthorizedUpdate
    /// §4.3.4: a 304 whose Last-Modified is no date, as one without a validator, or as one that no stored response has.
    case takesUnreadableValidatorAsAnother
    /// §4.3.4: after a 304 that identifies no stored response, none of them is what the origin server has, so that none stands in for the
    /// answer to the second request.
    case forgetsWhatIsNotIdentified
    /// §4: "When more than one suitable response is stored, a cache MUST use the most recent one": an older one may stay behind it.
    case keepsBehindNewer
    /// RFC 5861 §4: "MAY be used to satisfy the request": where response and request both have a limit, one of them may be enough.
    case takesOneLimitOfTwo
    /// §4.2.4: what max-stale and stale-while-revalidate both permit, is used because of one of them; only the other asks for a validation.
    case servesByMaxStaleAlone
    /// RFC 5861 §3: "the cache SHOULD attempt to revalidate it", which is in vain where the request lets nothing be stored, or nothing be
    /// forwarded.
    case validatesInVain
    /// §4.3.4 with RFC 9110 §8.8.2.2: Last-Modified may be strong, and identify where the stored response has no entity tag.
    case takesLastModifiedAsStrong
    /// §4.3.3: after a 5xx to a validation behind an answer, "act as if the server failed to respond", or store it where it may be stored.
    case storesErrorsBehind
    /// §4.3.4 and §5.2.2.5: a 304 whose words forbid keeping the response: it is removed, or stays without the update.
    case keepsWithoutUpdate
    /// RFC 8246 §2.1: an immutable response that is fresh is not validated "unless there is a signal from the client that a
    /// validation is necessary". `max-age=0` may be read as one.
    case takesMaxAgeAsSignal
    /// §4.3.3: a full response that may not be stored: what it was to replace may stay, stale.
    case removesWhatIsOutdated
    /// §4.3.5: what a HEAD says of a stored response other than 200.
    case updatesOtherStatusByHead
    /// §4.3.4: a stored response that a 304 has updated is an answer to the request that was validated, or still to the first one.
    case keepsRequestOfUpdated
    /// §4.2.3: "since the stored response was last validated": an Age of before the validation counts no more, or still does.
    case keepsOldAge
}

/// One way through the choices. `may` is answered along the path that was given, and then always with no.
struct ModelChoices {
    private(set) var taken: [(choice: ModelChoice, answer: Bool)] = []
    private let path: [Bool]

    init(path: [Bool] = []) { self.path = path }

    mutating func may(_ choice: ModelChoice) -> Bool {
        // Said once, it holds for the whole exchange.
        if let said = taken.first(where: { $0.choice == choice }) { return said.answer }
        let answer = taken.count < path.count ? path[taken.count] : false
        taken.append((choice, answer))
        return answer
    }

    /// The next way, depth first; `nil` behind the last.
    var next: ModelChoices? {
        var answers = taken.map(\.answer)
        while let last = answers.popLast() {
            if !last { return ModelChoices(path: answers + [true]) }
        }
        return nil
    }
}
