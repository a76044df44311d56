import HTTPMessage
import Testing

@testable import HTTPCaching

@Suite("The order of decisions about a request (RFC 9111 §4)")
struct CachingSequenceTests {
    private static func sequence(_ request: RequestHead = request(), _ overrides: CacheOverrides = .none) -> CachingSequence {
        CachingSequence(request: request, directives: RequestDirectives(request), overrides: overrides)
    }

    private static func time(_ seconds: Int64) -> Timestamp { arrival.advanced(seconds: seconds) }

    private static func origin(_ head: ResponseHead, after seconds: Int64 = 100) -> OriginResponse {
        OriginResponse(head: head, requestTime: time(seconds), responseTime: time(seconds))
    }

    /// A sequence that has sent its request to validate a stored response with a lifetime of 60 s and an age of 100 s.
    private static func stale(
        _ control: String = "", for head: RequestHead = request(), _ overrides: CacheOverrides = .none
    ) throws -> (CachingSequence, StoredResponse) {
        let stored = try stored(response(200, "Cache-Control: max-age=60\(control)", #"ETag: "a""#))
        var sequence = sequence(head, overrides)
        #expect(sequence.begin().name == "look up")
        #expect(sequence.found([stored], at: time(100)).name == "validate")
        return (sequence, stored)
    }

    @Test("A fresh response is served with its age, and nothing is sent")
    func servesFresh() throws {
        let stored = try stored(response(200, "Cache-Control: max-age=60"))
        var sequence = Self.sequence()
        #expect(sequence.begin().name == "look up")
        let step = sequence.found([stored], at: Self.time(10))
        guard case .serve(let served, let age, let validates) = step else { return #expect(Bool(false), "\(step)") }
        #expect(served === stored && age.seconds == 10 && !validates)
        #expect(sequence.decision?.isFresh == true)
    }

    @Test("If the stored body is lost before anything was sent, the request is sent without preconditions")
    func fetchesWhereBodyIsGone() throws {
        let stored = try stored(response(200, "Cache-Control: max-age=60, stale-if-error=600", #"ETag: "a""#))
        var sequence = Self.sequence()
        _ = sequence.begin()
        _ = sequence.found([stored], at: Self.time(10))
        #expect(sequence.lostBody().name == "send")
        #expect(sequence.failed(.error, at: Self.time(100)).failure == .origin)
    }

    @Test("Without a stored response the request is sent, and its response is stored according to RFC 9111 §3")
    func fetches() {
        for (control, isStored) in [("max-age=60", true), ("no-store", false)] {
            var sequence = Self.sequence()
            _ = sequence.begin()
            #expect(sequence.found([], at: arrival).name == "send")
            #expect(sequence.decision == .forward(.uriMiss))
            let step = sequence.received(Self.origin(response(200, "Cache-Control: \(control)")), at: arrival)
            guard case .deliver(let storage) = step else { return #expect(Bool(false), "\(step)") }
            #expect((storage.refusal == nil) == isStored)
            #expect(sequence.takeChanges().isEmpty)
        }
    }

    @Test("A request that must not be forwarded fails with the reason for which it would have been forwarded")
    func failsUnsent() {
        var stored = Self.sequence(get("Cache-Control: only-if-cached"))
        _ = stored.begin()
        #expect(stored.found([], at: arrival).failure == .notStored(.uriMiss))
        var overrides = CacheOverrides.none
        overrides.isDisconnected = true
        var disconnected = Self.sequence(request(), overrides)
        _ = disconnected.begin()
        #expect(disconnected.found([], at: arrival).failure == .disconnected(.uriMiss))
        var unsafe = Self.sequence(request("POST"), overrides)
        #expect(unsafe.begin().failure == .disconnected(.method))
    }

    @Test("A 304 freshens the response that it identifies, which is served and replaces the stored response")
    func freshens() throws {
        var (sequence, stored) = try Self.stale()
        let head = response(304, "Date: " + date(100), "Cache-Control: max-age=600", #"ETag: "a""#)
        let step = sequence.received(Self.origin(head), at: Self.time(100))
        guard case .serve(let served, let age, false) = step else { return #expect(Bool(false), "\(step)") }
        #expect(served.facts.freshnessLifetime.seconds == 600 && age == .zero)
        let changes = sequence.takeChanges()
        guard changes.count == 1, case .freshen(let old, let new) = changes[0] else { return #expect(Bool(false), "\(changes)") }
        #expect(old === stored && new === served)
        #expect(sequence.takeChanges().isEmpty)
        #expect(sequence.lostBody().name == "send")
    }

    @Test("A 304 freshens each variant with its strong validator, and the newest is served")
    func freshensEach() throws {
        let older = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "a""#))
        let newer = try stored(
            response(200, "Cache-Control: max-age=60", "Date: " + date(1), #"ETag: "a""#), at: Self.time(1))
        var sequence = Self.sequence()
        _ = sequence.begin()
        _ = sequence.found([newer, older], at: Self.time(100))
        let step = sequence.received(Self.origin(response(304, "Date: " + date(100), #"ETag: "a""#)), at: Self.time(100))
        let changes = sequence.takeChanges()
        guard changes.count == 2, case .freshen(let first, _) = changes[0], case .freshen(let last, let new) = changes[1],
            case .serve(let served, _, _) = step
        else { return #expect(Bool(false), "\(changes)") }
        #expect(first === older && last === newer && served === new)
    }

    @Test("A 304 that no longer allows storing the response removes it, and it is served once")
    func usesOnce() throws {
        var (sequence, stored) = try Self.stale()
        let head = response(304, "Date: " + date(100), "Cache-Control: no-store", #"ETag: "a""#)
        #expect(sequence.received(Self.origin(head), at: Self.time(100)).name == "serve")
        #expect(sequence.takeChanges().removed === stored)
    }

    @Test("A 304 about another representation changes nothing in the store, and the request is sent without preconditions")
    func sendsAgain() throws {
        var (sequence, _) = try Self.stale(", stale-if-error=600")
        #expect(sequence.received(Self.origin(response(304, #"ETag: "b""#)), at: Self.time(100)).name == "send")
        #expect(sequence.takeChanges().isEmpty)
        // The origin server has reported another representation: no stale response may replace it.
        #expect(sequence.failed(.error, at: Self.time(100)).failure == .origin)
    }

    @Test("A 304 confirms a response under the trust policy of its own exchange")
    func keepsTrust() throws {
        var (sequence, _) = try Self.stale()
        let head = response(304, "Date: " + date(100), #"ETag: "a""#)
        _ = sequence.received(
            OriginResponse(head: head, requestTime: Self.time(100), responseTime: Self.time(100), trust: 7), at: Self.time(100))
        guard case .freshen(_, let new)? = sequence.takeChanges().first else { return #expect(Bool(false), "nothing freshened") }
        #expect(new.facts.trust == 7)
    }

    @Test("A stale response replaces a failure or an error, if allowed")
    func standsIn() throws {
        for (control, isAllowed) in [(", stale-if-error=600", true), ("", false)] {
            var (failing, stored) = try Self.stale(control)
            let step = failing.failed(.error, at: Self.time(100))
            #expect(step.served === (isAllowed ? stored : nil))
            #expect(step.failure == (isAllowed ? nil : .origin))
            if isAllowed { #expect(failing.lostBody().failure == .origin) }

            var (erroneous, kept) = try Self.stale(control)
            let error = erroneous.received(Self.origin(response(503)), at: Self.time(100))
            #expect(error.served === (isAllowed ? kept : nil))
            // If its body is lost, the error itself is delivered.
            if isAllowed { #expect(erroneous.lostBody().name == "deliver") } else { #expect(error.name == "deliver") }
        }
    }

    @Test("A failure that allows no stale response is reported")
    func passesFailureOn() throws {
        var (sequence, _) = try Self.stale(", stale-if-error=600")
        #expect(sequence.failed(nil, at: Self.time(100)).failure == .origin)
    }

    @Test(
        "A new representation that may not be stored removes the former one; an error, or a reason that concerns only this request, does not",
        arguments: [(200 as UInt16, "", true), (404, "", true), (500, "", false), (403, "", false), (200, "no-store", false)])
    func removesFormer(status: UInt16, wish: String, isRemoved: Bool) throws {
        let head = wish.isEmpty ? request() : get("Cache-Control: \(wish), max-age=0")
        var (sequence, stored) = try Self.stale(for: head)
        let step = sequence.received(Self.origin(response(status, "Cache-Control: no-store")), at: Self.time(100))
        #expect(step.name == "deliver")
        #expect(sequence.takeChanges().removed === (isRemoved ? stored : nil))
    }

    @Test("An unsafe request is sent without a lookup, and invalidates its target and the URIs that the response names (§4.4)")
    func invalidates() {
        let post = request("POST", "http://example.com/a")
        for (status, count) in [(201 as UInt16, 2), (500, 0)] {
            var sequence = Self.sequence(post)
            #expect(sequence.begin().name == "send")
            _ = sequence.received(Self.origin(response(status, "Location: /b")), at: arrival)
            let keys = sequence.takeChanges().compactMap { change -> [UInt8]? in
                if case .invalidate(let key) = change { key } else { nil }
            }
            #expect(keys.count == count)
            if count == 2 { #expect(keys[0] == CacheKey(of: post).bytes) }
        }
    }

    @Test("A 200 to HEAD freshens the response that it describes, and removes one that differs (§4.3.5)")
    func updatesByHEAD() throws {
        let stored = try stored(response(200, "Cache-Control: max-age=60", #"ETag: "a""#))
        for (tag, isSame) in [("a", true), ("b", false)] {
            let head = request("HEAD")
            var sequence = Self.sequence(head)
            _ = sequence.begin()
            _ = sequence.found([stored], at: Self.time(100))
            let response = response(200, "Date: " + date(100), "Cache-Control: max-age=60", "ETag: \"\(tag)\"")
            #expect(sequence.needsStored(for: response))
            let step = sequence.received(Self.origin(response), stored: [stored], at: Self.time(100))
            #expect(step.name == "deliver")
            let changes = sequence.takeChanges()
            if isSame {
                guard case .freshen(let old, _)? = changes.first else { return #expect(Bool(false), "\(changes)") }
                #expect(old === stored)
            } else {
                #expect(changes.removed === stored)
            }
        }
    }

    @Test("A response with stale-while-revalidate is served at once, and validated in the background")
    func servesWhileValidating() throws {
        let stored = try stored(response(200, "Cache-Control: max-age=60, stale-while-revalidate=600", #"ETag: "a""#))
        var sequence = Self.sequence()
        _ = sequence.begin()
        let step = sequence.found([stored], at: Self.time(100))
        guard case .serve(_, let age, true) = step else { return #expect(Bool(false), "\(step)") }
        #expect(age.seconds == 100)
    }

    @Test("A background validation delivers only a new representation; an error changes nothing")
    func validatesInBackground() throws {
        let stored = try stored(response(200, "Cache-Control: max-age=60, stale-if-error=600", #"ETag: "a""#))
        func validation() -> CachingSequence {
            var sequence = CachingSequence(
                validating: stored, request: request(), directives: RequestDirectives(request()), overrides: .none)
            #expect(sequence.begin().name == "validate")
            return sequence
        }
        for (head, name, count) in [
            (response(304, "Date: " + date(100), #"ETag: "a""#), "finish", 1), (response(304, #"ETag: "b""#), "send", 0),
            (response(503), "finish", 0), (response(501), "finish", 0), (response(429), "finish", 0),
            (response(200, "Cache-Control: max-age=60"), "deliver", 0),
        ] {
            var sequence = validation()
            #expect(sequence.received(Self.origin(head), at: Self.time(100)).name == name)
            #expect(sequence.takeChanges().count == count)
        }
        var failing = validation()
        #expect(failing.failed(.error, at: Self.time(100)).failure == .origin)
    }
}

extension CachingStep {
    fileprivate var name: String {
        switch self {
        case .lookUp: "look up"
        case .serve: "serve"
        case .send(let stored): stored == nil ? "send" : "validate"
        case .deliver: "deliver"
        case .fail: "fail"
        case .finish: "finish"
        }
    }

    fileprivate var served: StoredResponse? { if case .serve(let stored, _, _) = self { stored } else { nil } }

    fileprivate var failure: CachingFailure? { if case .fail(let failure) = self { failure } else { nil } }
}

extension [StoreChange] {
    /// The stored response that is removed, if that is the only change.
    fileprivate var removed: StoredResponse? {
        guard count == 1, case .remove(let stored) = self[0] else { return nil }
        return stored
    }
}
