import EventLoop
import HTTPCaching
import HTTPMessage

/// Background validation (RFC 5861 §3): the caller already has its stale response.
extension CachedCall {
    /// Validates a stored response in a separate transfer, which is registered in the session like any other. Each key has at most
    /// one such transfer at a time.
    func validateInBackground(_ stored: StoredResponse) {
        let refusal = Storability.refusalWhateverMethod(head, directives, overrides, .none)
        let session = run.session
        guard refusal == nil, !directives.contains(.onlyIfCached), session.validations.enter(key, at: .now)
        else { return }
        var request = request.described
        request.method = .get
        // The cache directives of the caller's request do not apply to the validation.
        request.fields["Cache-Control"] = nil
        request.fields["Pragma"] = nil
        Task { [request, check = run.check] in
            // Another validation may have ended after this call's lookup and before `enter`, and may have stored a newer response.
            let isStored = await isStillStored(stored)
            let retryAfter = isStored ? await Self.validate(stored, by: request, check, in: session) : nil
            session.validations.leave(key, until: retryAfter, at: .now)
        }
    }

    /// Whether the cache has no newer response for the requests that `stored` matches. If two responses were received within one
    /// millisecond, the one in the cache is treated as newer.
    private func isStillStored(_ stored: StoredResponse) async -> Bool {
        await cache.responses(for: key).allSatisfy { found in
            let found = found.stored
            if found.nominatedFields != stored.nominatedFields || stored.isNewer(than: found) { return true }
            return !found.isNewer(than: stored) && found.preparedHead == stored.preparedHead
        }
    }

    /// - Returns: the time until which the origin asks to wait (Retry-After), if it sent an error; otherwise `nil`.
    private static func validate(
        _ stored: StoredResponse, by request: SessionRequest, _ check: ResponseCheck?, in session: HTTPSession
    ) async -> Timestamp? {
        do throws(SessionError) {
            let scope = try TransferScope(session, request, Transfer())
            let limits = session.configuration.limits
            let consumption: ResponseChannel.BodyConsumption =
                check == nil ? .pieces(window: limits.unreadBodyLength) : .whole(limit: limits.bodyLength)
            let retryAfter = try await scope.run {
                await Self.validate(stored, by: TransferTask(scope, request, consumption: consumption, check: check))
            }
            scope.end(nil)
            return retryAfter
        } catch {
            // Monitors have received the error. The stored response stays unchanged, and its next use validates it again.
            return nil
        }
    }

    private static func validate(_ stored: StoredResponse, by run: TransferTask) async -> Result<Timestamp?, SessionError> {
        do throws(SessionError) {
            let prepared = try PreparedRequest(run.request, of: run.session)
            guard let call = CachedCall(run, prepared) else { return .success(nil) }
            var sequence = CachingSequence(
                validating: stored, request: call.head, directives: call.directives, overrides: call.overrides)
            guard case .send(let validating) = sequence.begin() else { return .success(nil) }
            var (step, answer) = await call.ask(validating: validating, in: &sequence)
            while case .send(let again) = step {
                answer.arrived?.discard()
                (step, answer) = await call.ask(validating: again, in: &sequence)
            }
            if let failure = answer.failure { throw failure }
            guard let (arrived, keeping) = answer.received else { return .success(nil) }
            guard case .deliver(let decision) = step else {
                // No new response is stored: the stored response is still valid, or the origin sent an error. An error may
                // have a Retry-After.
                let status = arrived.head.status
                let isError = status.code >= 500 || Reuse.isError(status)
                let now = Timestamp.now
                let wait = isError ? RetryAfter.milliseconds(arrived.head.fields, at: now) : nil
                arrived.discard()
                return .success(wait.map { Timestamp(milliseconds: now.milliseconds + $0) })
            }
            // The caller's check decides here as for a response that the caller gets.
            if case .store = decision, run.check?.accepts(arrived) ?? true { await keeping.keep(arrived) }
            return await arrived.link.drain().map { nil }
        } catch { return .failure(error) }
    }
}

/// The keys of background validations: those in flight, and those that must wait because the origin sent Retry-After.
final class BackgroundValidations: Sendable {
    /// How many keys may wait at the same time.
    static let postponedLimit = 1024

    private struct Keys {
        var inFlight: Set<CachedResponse.Key> = []
        var postponed: [CachedResponse.Key: (start: Timestamp, end: Timestamp)] = [:]
    }

    private let keys = Guarded(Keys())

    /// Whether no validation is in flight.
    var isEmpty: Bool { keys.withLock { $0.inFlight.isEmpty } }

    /// - Returns: `false` if a validation of this key is in flight or has to wait.
    func enter(_ key: CachedResponse.Key, at now: Timestamp) -> Bool {
        keys.withLock { keys in
            if let wait = keys.postponed[key] {
                // If the clock was set back, drop the wait: it would last longer than the origin asked for.
                if wait.start <= now, now < wait.end { return false }
                keys.postponed[key] = nil
            }
            return keys.inFlight.insert(key).inserted
        }
    }

    /// - Parameter end: no other validation of this key begins before this time; `nil`: no wait.
    func leave(_ key: CachedResponse.Key, until end: Timestamp?, at now: Timestamp) {
        keys.withLock { keys in
            keys.inFlight.remove(key)
            guard let end else { return }
            keys.postponed[key] = (now, end)
            // Above the limit, drop the wait that ends first: it has already ended, or has the least time left.
            if keys.postponed.count > Self.postponedLimit, let first = keys.postponed.min(by: { $0.value.end < $1.value.end }) {
                keys.postponed[first.key] = nil
            }
        }
    }
}
