/// The choices that the RFCs leave open and Larder's documentation has not made, each with its sentence. The model may choose either
/// alternative; the exchange must match one of them.
enum ModelChoice: String {
    /// §4.3.3: "it can either forward this response to the requesting client, or act as if the server failed to respond". And
    /// §4.2.4: stale "if it is disconnected", where nothing forbids it.
    case forwardsWhatDisconnectionWouldLetBeStale
    /// §5.2.1: request directives "are advisory; caches MAY implement them". A client that does not want a stored response may get an error
    /// or the stored response once the origin server has failed.
    case usesStoredAgainstTheRequestAfterFailure
    /// RFC 9110 §15.6.3 and §15.6.5: the status of a gateway whose origin server failed.
    case gatewayTimeoutForFailure
    /// §4.2: "Age" belongs to responses used "without validation"; after one it may be present.
    case omitsAgeAfterValidation
    /// §3: "some caches will not store a response that has neither a cache validator nor an explicit expiration time, as such
    /// responses are not usually useful to store. However, caches are not prohibited from storing such responses."
    case leavesOutWhatIsOfNoUse
    /// §4.1: "A Vary header field value containing a member "*" always fails to match", so storing it is useless but allowed.
    case keepsWhatNeverMatches
    /// §4.3.1: the preconditions "contain validator metadata sourced from stored response(s)": both validators, or the entity
    /// tag alone.
    case sendsEntityTagAlone
    /// RFC 9110 §13.2.1: "there is no point in sending a conditional HEAD".
    case sendsConditionalHead
    /// §4.3.4 lets a 304 freshen "stored 200 (OK) responses", and an origin server ignores preconditions if it would send another status
    /// (RFC 9110 §13.2.1).
    case validatesOtherStatuses
    /// §3 and §3.5: a response to a request with Authorization is not stored; so a 304's fields may be left out too, although §4.3.4 would
    /// update them.
    case leavesOutAuthorizedUpdate
    /// §4.3.4: a 304 with an invalid Last-Modified counts as one without a validator, or as one that matches no stored response.
    case takesUnreadableValidatorAsAnother
    /// §4.3.4: a 304 that identifies no stored response shows that the origin server has none of them, so none is served if the second
    /// request fails.
    case forgetsWhatIsNotIdentified
    /// §4: "When more than one suitable response is stored, a cache MUST use the most recent one": an older one may stay too.
    case keepsBehindNewer
    /// RFC 5861 §4: "MAY be used to satisfy the request": if both response and request have a limit, one of them may be enough.
    case takesOneLimitOfTwo
    /// §4.2.4: if max-stale and stale-while-revalidate both permit use, one of them is the reason; only the latter requires a validation.
    case servesByMaxStaleAlone
    /// RFC 5861 §3: "the cache SHOULD attempt to revalidate it", which is useless if the request forbids storing or forwarding.
    case validatesInVain
    /// §4.3.4 with RFC 9110 §8.8.2.2: Last-Modified may be strong, and identify a stored response without an entity tag.
    case takesLastModifiedAsStrong
    /// §4.3.3: after a 5xx to a background validation, "act as if the server failed to respond", or store it if it may be stored.
    case storesErrorsBehind
    /// §4.3.4 and §5.2.2.5: a 304 that forbids storing removes the stored response, or leaves it without the update.
    case keepsWithoutUpdate
    /// RFC 8246 §2.1: an immutable response that is fresh is not validated "unless there is a signal from the client that a
    /// validation is necessary". `max-age=0` may be read as one.
    case takesMaxAgeAsSignal
    /// §4.3.3: after a full response that must not be stored, the response that it would replace may stay, stale.
    case removesWhatIsOutdated
    /// §4.3.5: the effect of a HEAD on a stored response with another status than 200.
    case updatesOtherStatusByHead
    /// §4.3.4: a stored response updated by a 304 belongs to the request that was validated, or still to the first one.
    case keepsRequestOfUpdated
    /// §4.2.3: "since the stored response was last validated": an Age from before the validation no longer counts, or still does.
    case keepsOldAge
}

/// One set of choices. `may` answers along the given path, and `false` beyond it.
struct ModelChoices {
    private(set) var taken: [(choice: ModelChoice, answer: Bool)] = []
    private let path: [Bool]

    init(path: [Bool] = []) { self.path = path }

    mutating func may(_ choice: ModelChoice) -> Bool {
        // A choice applies to the whole exchange.
        if let said = taken.first(where: { $0.choice == choice }) { return said.answer }
        let answer = taken.count < path.count ? path[taken.count] : false
        taken.append((choice, answer))
        return answer
    }

    /// The next set, depth first; `nil` after the last.
    var next: ModelChoices? {
        var answers = taken.map(\.answer)
        while let last = answers.popLast() {
            if !last { return ModelChoices(path: answers + [true]) }
        }
        return nil
    }
}
