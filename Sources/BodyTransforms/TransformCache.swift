import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore
import ProxyPolicy

/// Transforms of stored responses, kept in memory for later requests. Shared by all loops, and only used by requests that require a
/// transform.
///
/// It holds the most recently used transforms, up to a number of bytes. A failed transform is an entry without a body. Each transform is
/// made only once: other requests for it wait.
package final class TransformCache: Sendable {
    /// A stored body, identified by the row of its response, and the transform to apply to it.
    package struct Key: Hashable, Sendable {
        package let row: StoredRowID
        package let fingerprint: UInt64
        package let source: TransformPlan.Source

        package init(row: StoredRowID, fingerprint: UInt64, source: TransformPlan.Source) {
            self.row = row
            self.fingerprint = fingerprint
            self.source = source
        }
    }

    /// The result for waiting requests.
    package enum Made: Sendable {
        case content(TransformedContent)
        case failed(TransformFault)
        /// The request that made the transform has ended early: one of the waiting requests starts again.
        case abandoned
    }

    package enum Join {
        case ready(StoredResponse)
        /// The transformed content is cached, but it was made for a different head of the same response.
        case made(TransformedContent)
        /// The transform has failed for exactly this response, with the same limits.
        case failed(TransformFault)
        case waits(Reply<Made>)
        /// The caller makes the transform, and reports the result with `settle`.
        case leads(Lead)
    }

    /// The right to make a transform for all requests that wait for it.
    package struct Lead: Sendable {
        package let key: Key
        fileprivate let number: UInt64
    }

    /// The limits of an attempt that failed. The transform may succeed with other limits.
    package struct Bounds: Equatable, Sendable {
        private let body, output: UInt64
        private let depth: Int

        package init(_ plan: TransformPlan) {
            (body, output, depth) = (plan.maximumBodyLength, plan.maximumOutputLength, plan.maximumDepth)
        }
    }

    private struct Entry {
        enum Outcome {
            case content(TransformedContent)
            case failed(TransformFault, Bounds)
        }

        let outcome: Outcome
        /// The variant that was delivered last.
        var variant: StoredResponse?
        /// The head and facts for which the variant was made, or with which the transform failed.
        var head = ResponseHead()
        var facts: ReuseFacts?
        var lastUse: UInt64

        var body: [UInt8]? { if case .content(let content) = outcome { content.body } else { nil } }
        var cost: Int { (body?.count ?? 0) + TransformCache.entryCost }

        func isOf(_ stored: StoredResponse) -> Bool {
            facts == stored.facts && head.fields.bytes == stored.head.fields.bytes
        }
    }

    private struct Making {
        let number: UInt64
        var waiters: [Reply<Made>] = []
    }

    private struct Contents {
        var entries: [Key: Entry] = [:]
        var making: [Key: Making] = [:]
        var byteCount = 0
        var use: UInt64 = 0
    }

    /// The size of an entry without its body: the original head and the changed head.
    private static let entryCost = 2048

    private let contents = Guarded(Contents())

    package init() {}

    /// - Parameter makeReply: is only called if there is something to wait for.
    package func join(_ key: Key, for stored: StoredResponse, within bounds: Bounds, makeReply: () -> Reply<Made>) -> Join {
        let found = contents.withLock { contents -> Join? in
            if let entry = contents.entries[key] {
                switch entry.outcome {
                case .content(let content):
                    contents.use += 1
                    contents.entries[key]?.lastUse = contents.use
                    if let variant = entry.variant, entry.isOf(stored) { return .ready(variant) }
                    return .made(content)
                case .failed(let fault, let tried):
                    if tried == bounds, entry.isOf(stored) {
                        contents.use += 1
                        contents.entries[key]?.lastUse = contents.use
                        return .failed(fault)
                    }
                }
            }
            if contents.making[key] != nil { return nil }
            contents.use += 1
            contents.making[key] = Making(number: contents.use)
            return .leads(Lead(key: key, number: contents.use))
        }
        if let found { return found }
        let reply = makeReply()
        let isTold = contents.withLock { contents -> Bool in
            guard contents.making[key] != nil else { return false }
            contents.making[key]?.waiters.append(reply)
            return true
        }
        // The transform has ended meanwhile, so the request looks again and finds the result.
        if !isTold { reply.send(.abandoned) }
        return .waits(reply)
    }

    /// Ends a transform: gives the result to the waiting requests, and keeps the result if there is space.
    package func settle(_ lead: Lead, _ made: Made, of stored: StoredResponse, within bounds: Bounds, limit: Int) {
        let (waiters, dropped) = contents.withLock { contents -> ([Reply<Made>], [Entry]) in
            let waiters = Self.end(lead, in: &contents)
            return (waiters, Self.insert(made, lead.key, of: stored, within: bounds, limit: limit, into: &contents))
        }
        withExtendedLifetime(dropped) {}
        for waiter in waiters { waiter.send(made) }
    }

    /// The request that makes this transform has ended early.
    package func abandon(_ lead: Lead) {
        for waiter in contents.withLock({ Self.end(lead, in: &$0) }) { waiter.send(.abandoned) }
    }

    /// The request that makes a transform has ended early.
    /// - Returns: whether no other request waits for it, so that it can be canceled; a later request starts again.
    package func leave(_ lead: Lead) -> Bool {
        contents.withLock { contents in
            let making = contents.making[lead.key]
            guard let making, making.number == lead.number, making.waiters.isEmpty else { return false }
            contents.making[lead.key] = nil
            return true
        }
    }

    /// - Returns: the requests that wait for the transform of this request; empty if another request now makes the transform.
    private static func end(_ lead: Lead, in contents: inout Contents) -> [Reply<Made>] {
        guard let making = contents.making[lead.key], making.number == lead.number else { return [] }
        contents.making[lead.key] = nil
        return making.waiters
    }

    /// Adds the result for a response that was stored only now.
    /// - Returns: the bodies removed to make space.
    package func put(_ made: Made, _ key: Key, of stored: StoredResponse, within bounds: Bounds, limit: Int) -> [[UInt8]] {
        contents.withLock { Self.insert(made, key, of: stored, within: bounds, limit: limit, into: &$0) }.compactMap(\.body)
    }

    /// Notes the variant made from a cached result, for requests with the same head.
    package func note(_ variant: StoredResponse, of stored: StoredResponse, _ key: Key) {
        let old = contents.withLock { contents -> StoredResponse? in
            guard contents.entries[key]?.body != nil else { return nil }
            let old = contents.entries[key]?.variant
            contents.entries[key]?.variant = variant
            contents.entries[key]?.head = stored.head
            contents.entries[key]?.facts = stored.facts
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// The number of entries, and their bytes.
    package var counts: (entries: Int, bytes: Int) { contents.withLock { ($0.entries.count, $0.byteCount) } }

    /// - Returns: the removed entries.
    private static func insert(
        _ made: Made, _ key: Key, of stored: StoredResponse, within bounds: Bounds, limit: Int, into contents: inout Contents
    ) -> [Entry] {
        contents.use += 1
        var entry: Entry
        switch made {
        case .content(let content): entry = Entry(outcome: .content(content), lastUse: contents.use)
        case .failed(let fault):
            entry = Entry(outcome: .failed(fault, bounds), lastUse: contents.use)
            entry.head = stored.head
            entry.facts = stored.facts
        case .abandoned: return []
        }
        guard entry.cost <= limit else { return [] }
        var dropped: [Entry] = []
        if let old = contents.entries.updateValue(entry, forKey: key) {
            contents.byteCount -= old.cost
            dropped.append(old)
        }
        contents.byteCount += entry.cost
        guard contents.byteCount > limit else { return dropped }
        // Frees the space needed plus an eighth of the limit. Otherwise every insertion would search all entries.
        for (key, _) in contents.entries.map({ ($0.key, $0.value.lastUse) }).sorted(by: { $0.1 < $1.1 }) {
            if contents.byteCount <= limit - limit / 8 || contents.entries.count == 1 { break }
            guard let gone = contents.entries.removeValue(forKey: key) else { continue }
            contents.byteCount -= gone.cost
            dropped.append(gone)
        }
        return dropped
    }
}
