/// A slow, simple implementation of RFC 9111, 5861, 6585 (429) and 8246 for a shared cache: an array of stored responses, and functions
/// that quote the sentences they follow. It shares no code with the modules that it is compared with.
///
/// If the RFCs leave a choice, `ModelChoice` lists it with its sentence, and every alternative is tried. If Larder's own documentation has
/// made the choice, the model follows it, and says "Ours":
///
/// - Only GET is stored (§3: "the request method is understood by the cache"); HEAD is answered from it.
/// - Invalid freshness information, or a directive with two different numbers, makes the response stale (§4.2.1: "encouraged").
/// - A heuristic lifetime is a tenth of Date minus Last-Modified, a day at most (§4.2.2: "MAY").
/// - A response with Set-Cookie is stored only by explicit freshness (§7.3; T23); a 304's Set-Cookie is not kept (T25).
/// - The fields that `no-cache` and `private` name are not stored (§5.2.2.4, §5.2.2.7: "MAY").
/// - The corrected initial age is the larger of apparent and corrected age (§4.2.3: "MAY").
/// - A validation carries our preconditions instead of the client's (§4.3.2: "MAY combine").
/// - A 304 without a validator counts for the response that was validated. After a 304 that identifies no stored response, the request is
///   sent once more, without our preconditions.
/// - Location and Content-Location of the same origin are invalidated (§4.4: "MAY"), by removal.
/// - A request with If-Match or If-Unmodified-Since is forwarded (§4.3.2: "not applicable to a cache").
/// - 429 is an error, as those of RFC 5861 §4 are: if stale-if-error permits it, a stale response is served instead.
/// - A stale response is not served for a failed origin server if the request's own directives forbid it.
struct CacheModel: Equatable {
    var stored: [ModelStored] = []

    /// The result of one exchange, for one set of choices.
    mutating func exchange(_ step: ModelStep, _ choices: inout ModelChoices) -> ModelOutcome {
        var outcome = ModelOutcome()
        if step.request.method == "GET" || step.request.method == "HEAD" {
            read(step, &outcome, &choices)
        } else {
            writeThrough(step, &outcome, &choices)
        }
        outcome.stored = stored.map { ModelOutcome.line(url: $0.request.url, $0.response.fields) }.sorted()
        return outcome
    }

    // MARK: Ways to a response

    /// §4: "A cache MUST write through requests with methods that are unsafe to the origin server".
    private mutating func writeThrough(_ step: ModelStep, _ outcome: inout ModelOutcome, _ choices: inout ModelChoices) {
        let conditions = ModelPreconditions(step.request.fields)
        outcome.forwarded.append(conditions)
        guard let response = step.response(0, to: conditions).response else {
            return fail(isForbidden: false, &outcome, &choices)
        }
        relay(response, &outcome)
        let urls = ModelStorage.invalidated(by: response, to: step.request)
        stored.removeAll { urls.contains($0.request.url) }
    }

    private mutating func read(_ step: ModelStep, _ outcome: inout ModelOutcome, _ choices: inout ModelChoices) {
        let wishes = step.request.directives
        let isForOrigin = step.request.fields.has("if-match") || step.request.fields.has("if-unmodified-since")
        let selected = isForOrigin ? nil : select(step.request)
        var reuse = ModelReuse.validate
        if let selected {
            reuse = ModelReuse.decide(stored[selected], for: step.request, at: step.time, &choices)
            if reuse != .validate {
                answer(from: stored[selected], to: step.request, age: stored[selected].currentAge(at: step.time), &outcome)
            }
        }
        switch reuse {
        case .use: return
        case .useAndValidate: if let selected { validateBehind(step, selected, &outcome, &choices) }
        case .validate:
            // §5.2.1.7: "either respond using a stored response consistent with the other constraints of the request, or respond
            // with a 504".
            if wishes.has("only-if-cached") { return outcome.answer.status = 504 }
            fetch(step, selected, &outcome, &choices)
        }
    }

    /// The stored responses of the request's target, in the order in which they were received.
    private func underTarget(_ request: ModelRequest) -> [Int] { stored.indices.filter { stored[$0].request.url == request.url } }

    private func select(_ request: ModelRequest) -> Int? {
        let candidates = underTarget(request)
        return ModelVary.select(among: candidates.map { stored[$0] }, for: request).map { candidates[$0] }
    }

    /// The stored responses that Vary allows for this request: "for the applicable cache key".
    private func ofKey(_ request: ModelRequest) -> [Int] {
        underTarget(request).filter {
            ModelVary.matches(stored[$0].variesBy, stored[$0].request, request)
        }
    }

    private func answer(from used: ModelStored, to request: ModelRequest, age: Int?, _ outcome: inout ModelOutcome) {
        let isNotModified = ModelPreconditions.areMet(request, by: used)
        outcome.answer = ModelOutcome.Answer(
            status: isNotModified ? 304 : used.response.status, age: age, fields: used.response.fields)
    }

    private func relay(_ response: ModelResponse, _ outcome: inout ModelOutcome) {
        outcome.answer = ModelOutcome.Answer(
            status: response.status, age: nil, fields: response.fields.withoutHopByHop())
    }

    /// §5.2.2.2: "the cache MUST generate an error response rather than reuse the stale response. The generated status code SHOULD be
    /// 504".
    private func fail(isForbidden: Bool, _ outcome: inout ModelOutcome, _ choices: inout ModelChoices) {
        outcome.answer.status = isForbidden || choices.may(.gatewayTimeoutForFailure) ? 504 : 502
    }

    // MARK: Forwarding

    private mutating func fetch(
        _ step: ModelStep, _ asked: Int?, _ outcome: inout ModelOutcome, _ choices: inout ModelChoices
    ) {
        let own = ModelPreconditions(step.request.fields)
        var sent = own
        var isOfOurs = false
        if let asked, step.request.method == "GET" || choices.may(.sendsConditionalHead),
            stored[asked].response.status == 200 || choices.may(.validatesOtherStatuses)
        {
            sent = own.forValidation(of: stored[asked], &choices)
            isOfOurs = stored[asked].response.entityTag != nil || stored[asked].response.lastModified != nil
        }
        outcome.forwarded.append(sent)
        let (delay, response) = step.response(0, to: sent)
        let now = step.time + delay
        guard let response else { return unanswered(step, asked, at: now, &outcome, &choices) }
        if response.status == 304 {
            if isOfOurs { return notModified(step, response, asked, at: now, &outcome, &choices) }
            return relay(response, &outcome)
        }
        if [429, 500, 502, 503, 504].contains(response.status), let asked,
            mayUseAfterFailure(step.request, asked, isUnreachable: false, at: now, &choices)
        {
            return answer(from: stored[asked], to: step.request, age: stored[asked].currentAge(at: now), &outcome)
        }
        receive(step, response, asked, from: step.time, to: now, &outcome, &choices)
    }

    /// §4.3.3: "A full response […] indicates that none of the stored responses nominated in the conditional request is suitable.
    /// Instead, the cache MUST use the full response to satisfy the request."
    private mutating func receive(
        _ step: ModelStep, _ response: ModelResponse, _ asked: Int?, from requestTime: Int, to now: Int,
        _ outcome: inout ModelOutcome, _ choices: inout ModelChoices
    ) {
        relay(response, &outcome)
        if step.request.method == "HEAD" {
            if response.status == 200 { learnFromHead(step.request, response, from: requestTime, to: now, &choices) }
        } else {
            keep(step.request, response, asked, from: requestTime, to: now, &choices)
        }
    }

    private mutating func keep(
        _ request: ModelRequest, _ response: ModelResponse, _ asked: Int?, from requestTime: Int, to now: Int,
        _ choices: inout ModelChoices
    ) {
        var kept = ModelStored(request: request, response: response, requestTime: requestTime, responseTime: now)
        let names = ModelVary.nominated(response)
        let mayStore = ModelStorage.mayStore(kept)
        let isWanted =
            mayStore && (!ModelStorage.isOfNoUse(kept) || !choices.may(.leavesOutWhatIsOfNoUse))
            && (!names.contains("*") || choices.may(.keepsWhatNeverMatches))
        guard isWanted else {
            // RFC 6585 §4: 429 concerns the number of requests that the client sends, not the representation.
            let isOfResource = response.status < 500 && response.status != 429
            if let asked, isOfResource, choices.may(.removesWhatIsOutdated) { stored.remove(at: asked) }
            return
        }
        kept.response.fields = ModelStorage.storedFields(response.fields)
        let siblings = underTarget(request).map { stored[$0] }
        kept.variesBy = names
        let keepsBehind = !siblings.isEmpty && choices.may(.keepsBehindNewer)
        stored.removeAll { old in
            !keepsBehind && old.request.url == request.url && Set(old.variesBy) == Set(kept.variesBy)
                && (names.contains("*") || ModelVary.matches(kept.variesBy, old.request, request))
        }
        stored.append(kept)
    }

    // MARK: Validation

    private mutating func notModified(
        _ step: ModelStep, _ response: ModelResponse, _ asked: Int?, at now: Int, _ outcome: inout ModelOutcome,
        _ choices: inout ModelChoices
    ) {
        let identified = identified(by: response, step.request, asked, &choices)
        guard let used = ModelStorage.mostRecent(identified, stored).first else {
            // §4.3.4: "MUST NOT use the new response to update any stored responses". The request is sent once more.
            let own = ModelPreconditions(step.request.fields)
            outcome.forwarded.append(own)
            let (delay, second) = step.response(1, to: own)
            guard let second else {
                return unanswered(
                    step, asked, mayStandIn: !choices.may(.forgetsWhatIsNotIdentified), at: now + delay, &outcome, &choices)
            }
            if second.status == 304 { return relay(second, &outcome) }
            return receive(step, second, asked, from: now, to: now + delay, &outcome, &choices)
        }
        let updated = freshened(stored[used], by: response, request: step.request, from: step.time, to: now, &choices)
        let age = choices.may(.omitsAgeAfterValidation) ? nil : updated.currentAge(at: now)
        answer(from: updated, to: step.request, age: age, &outcome)
        freshen(identified, by: response, request: step.request, from: step.time, to: now, &choices)
    }

    private func identified(
        by response: ModelResponse, _ request: ModelRequest, _ asked: Int?, _ choices: inout ModelChoices
    ) -> [Int] {
        let candidates = ofKey(request)
        let asked = asked.flatMap { candidates.firstIndex(of: $0) }
        return ModelStorage.identified(by: response, among: candidates.map { stored[$0] }, asked: asked, &choices)
            .map { candidates[$0] }
    }

    private func freshened(
        _ old: ModelStored, by response: ModelResponse, request: ModelRequest, from requestTime: Int, to now: Int,
        _ choices: inout ModelChoices
    ) -> ModelStored {
        var new = old
        new.response.fields = ModelStorage.updated(old.response.fields, with: response.fields)
        // RFC 9110 §6.6.1: without Date "a recipient […] MUST record the time it was received and append a corresponding Date".
        if !response.fields.has("date") { new.response.fields.remove("date") }
        if !response.fields.has("age"), old.response.fields.has("age"), !choices.may(.keepsOldAge) {
            new.response.fields.remove("age")
        }
        if new.response.fields.has("vary") { new.variesBy = ModelVary.nominated(new.response) }
        new.requestTime = requestTime
        new.responseTime = now
        if old.request.fields != request.fields, !choices.may(.keepsRequestOfUpdated) {
            new.request = ModelRequest(method: "GET", url: old.request.url, fields: request.fields)
        }
        return new
    }

    /// §4.3.4: "For each stored response identified, the cache MUST update its header fields"; but no response that must not be stored is
    /// kept.
    private mutating func freshen(
        _ identified: [Int], by response: ModelResponse, request: ModelRequest, from requestTime: Int, to now: Int,
        _ choices: inout ModelChoices
    ) {
        // §5.2.1.5: the request's no-store covers "any response to it".
        if request.directives.has("no-store") { return }
        if request.fields.has("authorization"), !ModelStorage.allowsAuthorization(response.directives),
            choices.may(.leavesOutAuthorizedUpdate)
        {
            return
        }
        var removed: [Int] = []
        for index in identified {
            let new = freshened(stored[index], by: response, request: request, from: requestTime, to: now, &choices)
            let neverMatches = ModelVary.nominated(new.response).contains("*") && !choices.may(.keepsWhatNeverMatches)
            let isOfNoUse = ModelStorage.isOfNoUse(new) && choices.may(.leavesOutWhatIsOfNoUse)
            if ModelStorage.mayStore(new), !neverMatches, !isOfNoUse {
                stored[index] = new
            } else if !choices.may(.keepsWithoutUpdate) {
                removed.append(index)
            }
        }
        for index in removed.sorted(by: >) { stored.remove(at: index) }
    }

    /// RFC 5861 §3: "the cache SHOULD attempt to revalidate it while still serving stale responses". §4.3.1: "it synthesises a
    /// request using a stored response".
    private mutating func validateBehind(
        _ step: ModelStep, _ asked: Int, _ outcome: inout ModelOutcome, _ choices: inout ModelChoices
    ) {
        let wishes = step.request.directives
        if wishes.has("no-store") || wishes.has("only-if-cached"), !choices.may(.validatesInVain) { return }
        var sent = ModelPreconditions()
        if stored[asked].response.status == 200 || choices.may(.validatesOtherStatuses) {
            sent = sent.forValidation(of: stored[asked], &choices)
        }
        outcome.background.append(sent)
        let (delay, response) = step.response(2, to: sent)
        let now = step.time + delay
        guard let response else { return }
        if response.status == 304 {
            let identified = identified(by: response, step.request, asked, &choices)
            if identified.isEmpty {
                outcome.background.append(ModelPreconditions())
                let (delay, second) = step.response(3, to: ModelPreconditions())
                if let second { keepBehind(step, second, asked, from: now, to: now + delay, &choices) }
                return
            }
            freshen(identified, by: response, request: step.request, from: step.time, to: now, &choices)
        } else {
            keepBehind(step, response, asked, from: step.time, to: now, &choices)
        }
    }

    private mutating func keepBehind(
        _ step: ModelStep, _ response: ModelResponse, _ asked: Int, from requestTime: Int, to now: Int,
        _ choices: inout ModelChoices
    ) {
        // A 429 is never stored, and removes nothing.
        if response.status == 429 { return }
        if response.status >= 500, !choices.may(.storesErrorsBehind) { return }
        let request = ModelRequest(method: "GET", url: step.request.url, fields: step.request.fields)
        keep(request, response, asked, from: requestTime, to: now, &choices)
    }

    /// §4.3.5: "the cache SHOULD update […] as described below; otherwise, the cache SHOULD consider the stored response to be stale",
    /// which removing it achieves too.
    private mutating func learnFromHead(
        _ request: ModelRequest, _ response: ModelResponse, from requestTime: Int, to now: Int, _ choices: inout ModelChoices
    ) {
        for index in ofKey(request).reversed() {
            let matches = ModelStorage.matchesHead(stored[index].response, response)
            if matches, stored[index].response.status == 200 || choices.may(.updatesOtherStatusByHead) {
                freshen([index], by: response, request: request, from: requestTime, to: now, &choices)
            } else {
                stored.remove(at: index)
            }
        }
    }

    // MARK: Failure

    private func unanswered(
        _ step: ModelStep, _ asked: Int?, mayStandIn: Bool = true, at now: Int, _ outcome: inout ModelOutcome,
        _ choices: inout ModelChoices
    ) {
        guard let asked else { return fail(isForbidden: false, &outcome, &choices) }
        if mayStandIn, mayUseAfterFailure(step.request, asked, isUnreachable: true, at: now, &choices) {
            return answer(from: stored[asked], to: step.request, age: stored[asked].currentAge(at: now), &outcome)
        }
        fail(isForbidden: stored[asked].forbidsStaleUse, &outcome, &choices)
    }

    private func mayUseAfterFailure(
        _ request: ModelRequest, _ asked: Int, isUnreachable: Bool, at now: Int, _ choices: inout ModelChoices
    ) -> Bool {
        let candidate = stored[asked]
        let isFresh = candidate.isFresh(at: now)
        // §4.2.4: "if it is prohibited by an explicit in-protocol directive". The other directives do not concern fresh responses.
        if candidate.response.directives.hasUnqualified("no-cache") { return false }
        if !isFresh, candidate.forbidsStaleUse { return false }
        let isPermitted = isFresh || candidate.isWithinStaleIfError(request.directives, at: now, &choices)
        if ModelReuse.isAgainstStale(request, candidate.staleness(at: now)) {
            return isPermitted && choices.may(.usesStoredAgainstTheRequestAfterFailure)
        }
        if isPermitted { return true }
        return isUnreachable && !choices.may(.forwardsWhatDisconnectionWouldLetBeStale)
    }
}
