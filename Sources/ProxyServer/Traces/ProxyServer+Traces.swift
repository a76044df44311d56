import EventLoop
import ProxyCore

/// Finished requests, newest first.
package struct TraceListing: Sendable {
    package fileprivate(set) var requests: [TracedRequest] = []
    /// Whether older requests match too.
    package fileprivate(set) var hasMore = false
    /// The number of finished requests that Larder still remembers.
    package fileprivate(set) var keptCount = 0
    /// The number of finished requests that Larder no longer remembers.
    package fileprivate(set) var droppedCount = 0
}

/// The requests that have finished since an earlier moment, oldest first.
package struct TraceNews: Sendable {
    package fileprivate(set) var requests: [TracedRequest] = []
    /// The number of finished requests that were not examined, because there were too many.
    package fileprivate(set) var skippedCount = 0
    /// The end of the period that this value covers: for each loop, the number of its finished requests.
    package fileprivate(set) var seen: [Int]
}

/// What the remembered requests say about the rules.
package struct PolicyTraffic: Sendable {
    package struct DenialGroup: Hashable, Sendable {
        /// The names of the rules that matched, separated by line feeds. The last one denies, if a rule denies.
        package let rules: String
        package let fault: String
        package let host: String
    }

    package struct Denials: Sendable {
        package fileprivate(set) var count = 0
        /// The latest of the denied requests.
        package fileprivate(set) var latest: TracedRequest
    }

    /// How many of the remembered requests each rule matched.
    package fileprivate(set) var hits: [String: Int] = [:]
    package fileprivate(set) var denials: [DenialGroup: Denials] = [:]
    /// The number of denied requests in groups beyond the limit.
    package fileprivate(set) var omittedDenials = 0
    package fileprivate(set) var requestCount = 0

    /// The maximum number of groups.
    static let groupLimit = 500
}

/// Searches of the traces of all loops. A loop examines few traces at once, so that it serves clients in between.
extension ProxyServer {
    /// The maximum number of traces that a loop examines at once.
    static let traceStep = 500

    /// Lists finished requests, newest first.
    /// - Parameters:
    ///   - before: the id of a request; only requests that finished before it are listed. If Larder no longer remembers this request, it
    ///     no longer remembers the older ones either, and the list is empty.
    ///   - limit: the maximum number of requests, at least 1.
    package func requests(_ query: TraceQuery, before: UInt64?, limit: Int, _ reply: Reply<TraceListing>) {
        guard let before else { return list(query, before: nil, limit: limit, reply) }
        askLoops({ $0.traces.find(before)?.place }) { places in
            self.list(query, before: places.lazy.compactMap { $0 }.first ?? .first, limit: limit, reply)
        }
    }

    private func list(_ query: TraceQuery, before: TracePlace?, limit: Int, _ reply: Reply<TraceListing>) {
        walkTraces(TraceListing()) { listing, view, ring in
            if let before, view.place >= before { return true }
            guard query.selects(view) else { return true }
            if listing.requests.count == limit {
                listing.hasMore = true
                return false
            }
            listing.requests.append(ring.read(view))
            return true
        } end: { listing, ring in
            listing.keptCount = ring.count
            listing.droppedCount = ring.recordCount - listing.keptCount
        } completion: { listings in
            var all = TraceListing()
            all.requests = listings.flatMap(\.requests).sorted { $0.place > $1.place }
            all.hasMore = all.requests.count > limit || listings.contains(where: \.hasMore)
            all.requests.removeLast(max(0, all.requests.count - limit))
            all.keptCount = listings.reduce(0) { $0 + $1.keptCount }
            all.droppedCount = listings.reduce(0) { $0 + $1.droppedCount }
            reply.send(all)
        }
    }

    /// Counts the rules that matched the remembered requests, and groups the denials.
    package func policyTraffic(_ reply: Reply<PolicyTraffic>) {
        walkTraces(PolicyTraffic()) { traffic, view, ring in
            traffic.note(view, ring)
            return true
        } completion: { parts in
            reply.send(parts.dropFirst().reduce(into: parts.first ?? PolicyTraffic()) { $0.add($1) })
        }
    }

    /// The requests that have finished since `seen`.
    /// - Parameters:
    ///   - seen: the value of the last answer; `nil` gives no requests, only the current value.
    ///   - limit: the maximum number of requests, at least 1. Of more, the newest are given, and the others are counted.
    package func news(_ query: TraceQuery, since seen: [Int]?, limit: Int, _ reply: Reply<TraceNews>) {
        let loopCount = threads.count
        askLoops({ worker -> (index: Int, news: TraceNews) in
            (worker.index, worker.traces.news(query, since: seen?[worker.index], limit: limit))
        }) { parts in
            var all = TraceNews(seen: [Int](repeating: 0, count: loopCount))
            for part in parts {
                all.requests += part.news.requests
                all.skippedCount += part.news.skippedCount
                all.seen[part.index] = part.news.seen[0]
            }
            all.requests.sort { $0.place < $1.place }
            let surplus = max(0, all.requests.count - limit)
            all.requests.removeFirst(surplus)
            all.skippedCount += surplus
            reply.send(all)
        }
    }

    /// Shows every trace of every loop to `visit`, newest first, until `visit` returns `false` for the loop.
    /// - Parameters:
    ///   - end: called at the end, on each loop.
    ///   - completion: called once on a loop's thread, with the result of each loop.
    private func walkTraces<Result: Sendable>(
        _ start: Result, _ visit: @escaping @Sendable (inout Result, borrowing TraceView, TraceRing) -> Bool,
        end: @escaping @Sendable (inout Result, TraceRing) -> Void = { _, _ in },
        completion: @escaping @Sendable ([Result]) -> Void
    ) {
        let walk = TraceWalk(visit: visit, end: end, gathering: Gathering(expecting: threads.count, completion))
        for thread in threads { walk.step(start, before: .max, on: thread.handle) }
    }
}

/// A walk through the traces of all loops.
private struct TraceWalk<Result: Sendable>: Sendable {
    let visit: @Sendable (inout Result, borrowing TraceView, TraceRing) -> Bool
    let end: @Sendable (inout Result, TraceRing) -> Void
    let gathering: Gathering<Result>

    /// Each step is a message of its own, so that the loop serves clients between two steps.
    func step(_ result: Result, before place: Int, on handle: LoopHandle) {
        handle.post { loop in
            guard let worker = loop.owner as? LoopWorker else { return }
            var result = result
            let ring = worker.traces
            if let next = ring.visit(before: place, atMost: ProxyServer.traceStep, { visit(&result, $0, ring) }) {
                return step(result, before: next, on: handle)
            }
            end(&result, ring)
            gathering.add(result)
        }
    }
}

extension TracePlace {
    /// A place before every trace.
    fileprivate static let first = TracePlace(finishedAt: MonotonicTime(nanoseconds: 0), loop: -1, number: -1)
}

extension TraceRing {
    fileprivate func news(_ query: TraceQuery, since seen: Int?, limit: Int) -> TraceNews {
        var news = TraceNews(seen: [recordCount])
        guard let seen else { return news }
        var examined = 0
        _ = visit(before: recordCount, atMost: min(ProxyServer.traceStep, recordCount - seen)) { view in
            if news.requests.count == limit { return false }
            examined += 1
            if query.selects(view) { news.requests.append(read(view)) }
            return true
        }
        news.skippedCount = recordCount - seen - examined
        return news
    }
}

extension PolicyTraffic {
    fileprivate mutating func note(_ view: borrowing TraceView, _ ring: TraceRing) {
        requestCount += 1
        let rules = view.rules
        for name in rules.split(separator: UInt8(ascii: "\n")) { hits[String(decoding: name, as: UTF8.self), default: 0] += 1 }
        guard view.record.trace.isDenial, let fault = view.record.trace.fault else { return }
        let group = DenialGroup(
            rules: String(decoding: rules, as: UTF8.self), fault: "\(GatewayError(fault).code.text)",
            host: String(decoding: view.host, as: UTF8.self))
        if denials[group] != nil {
            denials[group]?.count += 1
        } else if denials.count < Self.groupLimit {
            denials[group] = Denials(count: 1, latest: ring.read(view))
        } else {
            omittedDenials += 1
        }
    }

    fileprivate mutating func add(_ other: PolicyTraffic) {
        requestCount += other.requestCount
        omittedDenials += other.omittedDenials
        hits.merge(other.hits, uniquingKeysWith: +)
        denials.merge(other.denials) { left, right in
            Denials(count: left.count + right.count, latest: left.latest.place > right.latest.place ? left.latest : right.latest)
        }
    }
}
