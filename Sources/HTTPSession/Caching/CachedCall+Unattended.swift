import EventLoop
import HTTPCaching
import HTTPMessage

/// Validation for nobody but the cache: what was served stale is asked about behind the caller's back (RFC 5861 §3).
extension CachedCall {
    /// A transfer of its own, which the session knows as any other. One for a key at a time.
    func validateUnattended(_ stored: StoredResponse) {
        let refusal = Storability.refusalWhateverMethod(head, directives, overrides, .none)
        let session = run.session
        guard refusal == nil, !directives.contains(.onlyIfCached), session.validations.enter(key) else { return }
        var request = request.described
        request.method = .get
        // The caller's wishes about caches are not the cache's own.
        request.fields["Cache-Control"] = nil
        request.fields["Pragma"] = nil
        Task { [request] in
            // Another validation may have ended between this call's look-up and its entry here.
            if await isStillStored(stored) { await Self.validate(stored, by: request, in: session) }
            session.validations.leave(key)
        }
    }

    /// Whether the cache has no newer response for these requests.
    private func isStillStored(_ stored: StoredResponse) async -> Bool {
        await cache.responses(for: key).allSatisfy {
            $0.stored.nominatedFields != stored.nominatedFields || !$0.stored.isNewer(than: stored)
        }
    }

    private static func validate(_ stored: StoredResponse, by request: HTTPRequest, in session: HTTPSession) async {
        do throws(SessionError) {
            let scope = try TransferScope(session, request, Transfer())
            let taking = ExchangeLink.Taking.pieces(window: session.configuration.limits.unreadBodyLength)
            try await scope.run { await Self.validate(stored, by: TransferRun(scope, request, taking: taking)) }
            scope.end(nil)
        } catch {
            // Monitors have heard of it. What is kept stays as it is, and is asked about again with its next use.
        }
    }

    private static func validate(_ stored: StoredResponse, by run: TransferRun) async -> Result<Void, SessionError> {
        do throws(SessionError) {
            let prepared = try PreparedRequest(run.request, of: run.session)
            guard let call = CachedCall(run, prepared),
                case .replaced(let arrived, let keeping) = try await call.validation(of: stored, mayStandIn: false)
            else { return .success(()) }
            // An error of the origin's leaves what is kept as it is (RFC 9111 §4.3.3).
            if arrived.head.status.code >= 500 {
                arrived.discard()
                return .success(())
            }
            await keeping.keep(arrived)
            return await arrived.link.drain()
        } catch { return .failure(error) }
    }
}

/// The keys that are validated for nobody at the moment.
final class UnattendedValidations: Sendable {
    private let keys = Guarded<Set<CachedResponse.Key>>([])

    var isEmpty: Bool { keys.withLock { $0.isEmpty } }

    /// - Returns: `false` where it is there already.
    func enter(_ key: CachedResponse.Key) -> Bool { keys.withLock { $0.insert(key).inserted } }

    func leave(_ key: CachedResponse.Key) { _ = keys.withLock { $0.remove(key) } }
}
