import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore
import ProxyPolicy
import Testing

@testable import ProxyServer

@Suite("C9: what rules have made of stored responses")
struct VariantShelfTests {
    private let key = VariantShelf.Key(row: 7, fingerprint: 1, source: .json)
    private let limit = 1 << 20

    private func bounds(body: UInt64 = 1000) -> VariantShelf.Bounds {
        var words = TransformWords()
        words.maximumBodyLength = body
        return VariantShelf.Bounds(TransformPlan(words, ruleName: "r"))
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
        _ shelf: VariantShelf, _ stored: StoredResponse, _ bounds: VariantShelf.Bounds
    ) throws -> VariantShelf.Lead {
        let join = shelf.join(key, for: stored, within: bounds) { fatalError("there is nothing to wait for") }
        guard case .leads(let lead) = join else { throw SystemError("join", code: 0) }
        return lead
    }

    private func fault(_ shelf: VariantShelf, _ stored: StoredResponse, _ bounds: VariantShelf.Bounds) -> TransformFault? {
        guard case .failed(let fault) = shelf.join(key, for: stored, within: bounds, makeReply: { fatalError("nor here") }) else {
            return nil
        }
        return fault
    }

    @Test("What failed is not tried again with the same response and bounds")
    func remembersFailures() throws {
        let shelf = VariantShelf()
        let (stored, bounds) = (stored(), bounds())
        shelf.settle(try lead(shelf, stored, bounds), .failed(.malformedJSON), of: stored, within: bounds, limit: limit)
        for _ in 0..<3 { #expect(fault(shelf, stored, bounds) == .malformedJSON) }
        #expect(shelf.counts.bytes > 0 && shelf.counts.bytes < 4096)
    }

    @Test("It is tried again with a freshened head, or with other bounds")
    func triesAgain() throws {
        let shelf = VariantShelf()
        let (stored, bounds) = (stored(), bounds())
        shelf.settle(try lead(shelf, stored, bounds), .failed(.bodyTooLarge), of: stored, within: bounds, limit: limit)
        shelf.abandon(try lead(shelf, self.stored(at: 2), bounds))
        shelf.abandon(try lead(shelf, stored, self.bounds(body: 2000)))
        #expect(fault(shelf, stored, bounds) == .bodyTooLarge)
        let content = TransformedContent(body: [1, 2], digest: [])
        let again = try lead(shelf, stored, self.bounds(body: 2000))
        shelf.settle(again, .content(content), of: stored, within: self.bounds(body: 2000), limit: limit)
        guard case .made(let made) = shelf.join(key, for: stored, within: bounds, makeReply: { fatalError("it is there") }) else {
            Issue.record("what was made is not there")
            return
        }
        #expect(made.body == [1, 2])
    }

    @Test("Failures take of the room for what was made, and the oldest go")
    func boundsFailures() throws {
        let shelf = VariantShelf()
        let (stored, bounds) = (stored(), bounds())
        for row in 1...1000 as ClosedRange<Int64> {
            let key = VariantShelf.Key(row: row, fingerprint: 1, source: .json)
            #expect(shelf.put(.failed(.tooDeep), key, of: stored, within: bounds, limit: 100 * 2048).isEmpty)
        }
        #expect(shelf.counts.bytes <= 100 * 2048)
        let first = VariantShelf.Key(row: 1, fingerprint: 1, source: .json)
        guard case .leads = shelf.join(first, for: stored, within: bounds, makeReply: { fatalError("it is gone") }) else {
            Issue.record("the first is still there")
            return
        }
        #expect(shelf.put(.failed(.tooDeep), key, of: stored, within: bounds, limit: 0).isEmpty)
    }

    @Test("What nobody waits for need not be made; what somebody waits for has to be")
    func leaves() throws {
        let shelf = VariantShelf()
        let loop = try EventLoop()
        let (stored, bounds) = (stored(), bounds())
        let alone = try lead(shelf, stored, bounds)
        #expect(shelf.leave(alone))
        let next = try lead(shelf, stored, bounds)
        #expect(!shelf.leave(alone))
        // Whoever was left alone does not end what another makes.
        shelf.settle(alone, .abandoned, of: stored, within: bounds, limit: limit)
        _ = shelf.join(key, for: stored, within: bounds) { loop.reply { (_: VariantShelf.Made) in } }
        #expect(!shelf.leave(next))
        loop.forgetReplies()
    }
}
