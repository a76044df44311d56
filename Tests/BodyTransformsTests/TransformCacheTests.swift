import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore
import ProxyPolicy
import Testing

@testable import BodyTransforms

@Suite("C9: transformed variants of stored responses")
struct TransformCacheTests {
    private let key = TransformCache.Key(row: 7, fingerprint: 1, source: .json)
    private let limit = 1 << 20

    private func bounds(body: UInt64 = 1000) -> TransformCache.Bounds {
        var words = TransformWords()
        words.maximumBodyLength = body
        return TransformCache.Bounds(TransformPlan(words, ruleName: "r"))
    }

    private func stored(at seconds: Int64 = 1) -> StoredResponse {
        var head = ResponseHead()
        head.fields.append(name: "Content-Type", value: "application/json")
        return StoredResponse(
            key: Array("k".utf8), nominatedFields: [],
            facts: ReuseFacts(status: .ok, responseTime: Timestamp(seconds: seconds)), head: head,
            requestTime: Timestamp(seconds: seconds), body: .bytes([1]), row: 7)
    }

    private func lead(
        _ cache: TransformCache, _ stored: StoredResponse, _ bounds: TransformCache.Bounds
    ) throws -> TransformCache.Lead {
        let join = cache.join(key, for: stored, within: bounds) { fatalError("there is nothing to wait for") }
        guard case .leads(let lead) = join else { throw SystemError("join", code: 0) }
        return lead
    }

    private func fault(_ cache: TransformCache, _ stored: StoredResponse, _ bounds: TransformCache.Bounds) -> TransformFault? {
        guard case .failed(let fault) = cache.join(key, for: stored, within: bounds, makeReply: { fatalError("nor here") }) else {
            return nil
        }
        return fault
    }

    @Test("A failed transform is not repeated for the same response and limits")
    func remembersFailures() throws {
        let cache = TransformCache()
        let (stored, bounds) = (stored(), bounds())
        cache.settle(try lead(cache, stored, bounds), .failed(.malformedJSON), of: stored, within: bounds, limit: limit)
        for _ in 0..<3 { #expect(fault(cache, stored, bounds) == .malformedJSON) }
        #expect(cache.counts.bytes > 0 && cache.counts.bytes < 4096)
    }

    @Test("A failed transform is repeated for a freshened head, or with other limits")
    func triesAgain() throws {
        let cache = TransformCache()
        let (stored, bounds) = (stored(), bounds())
        cache.settle(try lead(cache, stored, bounds), .failed(.bodyTooLarge), of: stored, within: bounds, limit: limit)
        cache.abandon(try lead(cache, self.stored(at: 2), bounds))
        cache.abandon(try lead(cache, stored, self.bounds(body: 2000)))
        #expect(fault(cache, stored, bounds) == .bodyTooLarge)
        let content = TransformedContent(body: [1, 2], digest: [])
        let again = try lead(cache, stored, self.bounds(body: 2000))
        cache.settle(again, .content(content), of: stored, within: self.bounds(body: 2000), limit: limit)
        guard case .made(let made) = cache.join(key, for: stored, within: bounds, makeReply: { fatalError("it is there") }) else {
            Issue.record("what was made is not there")
            return
        }
        #expect(made.body == [1, 2])
    }

    @Test("Failures share the space of the cache, and the oldest are removed")
    func boundsFailures() throws {
        let cache = TransformCache()
        let (stored, bounds) = (stored(), bounds())
        for row in 1...1000 as ClosedRange<Int64> {
            let key = TransformCache.Key(row: row, fingerprint: 1, source: .json)
            #expect(cache.put(.failed(.tooDeep), key, of: stored, within: bounds, limit: 100 * 2048).isEmpty)
        }
        #expect(cache.counts.bytes <= 100 * 2048)
        let first = TransformCache.Key(row: 1, fingerprint: 1, source: .json)
        guard case .leads = cache.join(first, for: stored, within: bounds, makeReply: { fatalError("it is gone") }) else {
            Issue.record("the first is still there")
            return
        }
        #expect(cache.put(.failed(.tooDeep), key, of: stored, within: bounds, limit: 0).isEmpty)
    }

    @Test("A transform without waiting requests can be abandoned; one with waiting requests cannot")
    func leaves() throws {
        let cache = TransformCache()
        let loop = try EventLoop()
        let (stored, bounds) = (stored(), bounds())
        let alone = try lead(cache, stored, bounds)
        #expect(cache.leave(alone))
        let next = try lead(cache, stored, bounds)
        #expect(!cache.leave(alone))
        // An abandoned transform does not end another one.
        cache.settle(alone, .abandoned, of: stored, within: bounds, limit: limit)
        _ = cache.join(key, for: stored, within: bounds) { loop.reply { (_: TransformCache.Made) in } }
        #expect(!cache.leave(next))
        loop.forgetReplies()
    }
}
