import EventLoop
import HTTPCaching
import HTTPMessage
import ProxyCore
import ProxyPolicy

/// What rules have made of stored responses, in memory for those who ask again (C9): shared by all loops, and touched only by requests for
/// which something is made.
///
/// It holds so many octets, those that were used last. What is being made is made once: who wants the same waits for it.
final class VariantShelf: Sendable {
    /// A stored body, by the row of its response, and what is made of it.
    struct Key: Hashable, Sendable {
        let row: StoredRowID
        let fingerprint: UInt64
        let source: TransformPlan.Source
    }

    /// What those who wait are told.
    enum Made: Sendable {
        case content(TransformedContent)
        case failed(TransformFault)
        /// Who was making it has left: one of those who waited begins anew.
        case abandoned
    }

    enum Join {
        case ready(StoredResponse)
        /// The content is there, and was for another head of the same response.
        case made(TransformedContent)
        case waits(Reply<Made>)
        /// Whoever asks makes it, and tells by `settle`.
        case leads
    }

    private struct Entry {
        let content: TransformedContent
        /// The response that was delivered last, and the head and facts of which it was made.
        var variant: StoredResponse?
        var head = ResponseHead()
        var facts: ReuseFacts?
        var lastUse: UInt64

        var cost: Int { content.body.count + VariantShelf.entryCost }

        func isVariant(of stored: StoredResponse) -> Bool {
            facts == stored.facts && head.fields.bytes == stored.head.fields.bytes
        }
    }

    private struct Contents {
        var entries: [Key: Entry] = [:]
        var making: [Key: [Reply<Made>]] = [:]
        var byteCount = 0
        var use: UInt64 = 0
    }

    /// What an entry takes beside its body: a head, read and written.
    private static let entryCost = 2048

    private let contents = Guarded(Contents())

    /// - Parameter makeReply: is called only where there is something to wait for.
    func join(_ key: Key, for stored: StoredResponse, makeReply: () -> Reply<Made>) -> Join {
        let found = contents.withLock { contents -> Join? in
            if let entry = contents.entries[key] {
                contents.use += 1
                contents.entries[key]?.lastUse = contents.use
                if let variant = entry.variant, entry.isVariant(of: stored) { return .ready(variant) }
                return .made(entry.content)
            }
            if contents.making[key] != nil { return nil }
            contents.making[key] = []
            return .leads
        }
        if let found { return found }
        let reply = makeReply()
        let isTold = contents.withLock { contents -> Bool in
            guard contents.making[key] != nil else { return false }
            contents.making[key]?.append(reply)
            return true
        }
        // It has come to its end between the two: whoever looks again finds it.
        if !isTold { reply.send(.abandoned) }
        return .waits(reply)
    }

    /// Ends what was being made: those who wait are told, and what was made is kept where it has room.
    func settle(_ key: Key, _ made: Made, limit: Int) {
        let (waiters, dropped) = contents.withLock { contents -> ([Reply<Made>], [Entry]) in
            let waiters = contents.making.removeValue(forKey: key) ?? []
            guard case .content(let content) = made else { return (waiters, []) }
            return (waiters, Self.insert(content, key, limit: limit, into: &contents))
        }
        withExtendedLifetime(dropped) {}
        for waiter in waiters { waiter.send(made) }
    }

    /// Puts in what was made of a response before that was stored.
    func put(_ content: TransformedContent, _ key: Key, limit: Int) {
        let dropped = contents.withLock { Self.insert(content, key, limit: limit, into: &$0) }
        withExtendedLifetime(dropped) {}
    }

    /// The response that is delivered of what is kept, for those who come with the same head.
    func note(_ variant: StoredResponse, of stored: StoredResponse, _ key: Key) {
        let old = contents.withLock { contents -> StoredResponse? in
            let old = contents.entries[key]?.variant
            contents.entries[key]?.variant = variant
            contents.entries[key]?.head = stored.head
            contents.entries[key]?.facts = stored.facts
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// How many there are, and their octets.
    var counts: (entries: Int, bytes: Int) { contents.withLock { ($0.entries.count, $0.byteCount) } }

    /// - Returns: what had to go.
    private static func insert(
        _ content: TransformedContent, _ key: Key, limit: Int, into contents: inout Contents
    ) -> [Entry] {
        contents.use += 1
        let entry = Entry(content: content, lastUse: contents.use)
        guard entry.cost <= limit else { return [] }
        var dropped: [Entry] = []
        if let old = contents.entries.updateValue(entry, forKey: key) {
            contents.byteCount -= old.cost
            dropped.append(old)
        }
        contents.byteCount += entry.cost
        guard contents.byteCount > limit else { return dropped }
        // An eighth more than has to, so that not each one that comes looks through all.
        for (key, _) in contents.entries.map({ ($0.key, $0.value.lastUse) }).sorted(by: { $0.1 < $1.1 }) {
            if contents.byteCount <= limit - limit / 8 || contents.entries.count == 1 { break }
            guard let gone = contents.entries.removeValue(forKey: key) else { continue }
            contents.byteCount -= gone.cost
            dropped.append(gone)
        }
        return dropped
    }
}
