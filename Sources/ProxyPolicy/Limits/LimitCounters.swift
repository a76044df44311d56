/// The counts of all rules with limits. One value for all loops, which its owner protects by a lock.
///
/// A rule keeps its counts as long as its name and its `limit` stay the same, so a reload does not give a new quota. Each rule has at
/// most `PolicyLimits.limitSubjects` counts. To make room, Larder removes the counts that equal new counts. If there are no such
/// counts, Larder refuses a new subject (a client, user or host).
package struct LimitCounters: Sendable {
    /// Requests that are in flight during a reload may still have the rule's old limit.
    private struct Key: Hashable, Sendable {
        let rule: String
        let limit: RuleLimit

        init(_ demand: LimitDemand) {
            rule = demand.rule
            limit = demand.limit
        }
    }

    private struct OfRule: Sendable {
        let limit: RuleLimit
        var counts: [[UInt8]: LimitCount] = [:]
        /// Before this time, a search for counts to remove finds none.
        var nextSearch: UInt64 = 0

        mutating func removeIdle(at now: UInt64) {
            nextSearch = .max
            counts = counts.filter { subject, count in
                guard let time = count.idleTime(limit) else { return true }
                if time > now { nextSearch = min(nextSearch, time) }
                return time > now
            }
            // If the search has made space, the next search comes when that space is used up, regardless of the time.
            if counts.count < PolicyLimits.limitSubjects { nextSearch = 0 }
        }
    }

    private var rules: [Key: OfRule] = [:]
    /// The counts of rules that the last reload removed. Requests in flight still use these counts.
    private var former: [Key: OfRule] = [:]

    package init() {}

    /// Removes the counts of rules that the new settings no longer have.
    package mutating func keepOnly(rulesOf ruleSet: PolicyRuleSet) {
        former = [:]
        guard !rules.isEmpty else { return }
        let limits = Dictionary(uniqueKeysWithValues: ruleSet.rules.compactMap { rule in rule.limit.map { (rule.name, $0) } })
        former = rules.filter { limits[$0.key.rule] != $0.key.limit }
        rules = rules.filter { limits[$0.key.rule] == $0.key.limit }
    }

    /// Counts one request, if the limits of all its rules permit it; otherwise counts nothing.
    /// - Parameters:
    ///   - bytesOut: the length of the request's content in bytes; 0 if the length is not known yet.
    ///   - now: monotonic time in microseconds.
    /// - Returns: the first limit that does not permit the request; `nil` if all permit it.
    package mutating func admit(_ demands: [LimitDemand], bytesOut: UInt64, at now: UInt64) -> LimitRefusal? {
        for demand in demands {
            guard let count = prepare(demand, at: now) else {
                return LimitRefusal(
                    rule: demand.rule, word: demand.limit.rate == nil ? demand.limit.firstQuota : .rate, limit: demand.limit,
                    retryAfter: rules[Key(demand)].flatMap {
                        $0.nextSearch == .max ? nil : Self.seconds($0.nextSearch - min($0.nextSearch, now))
                    })
            }
            if let (word, wait) = count.refusal(demand.limit, bytesOut: bytesOut, at: now) {
                return LimitRefusal(rule: demand.rule, word: word, limit: demand.limit, retryAfter: Self.seconds(wait))
            }
        }
        for demand in demands {
            rules[Key(demand)]?.counts[demand.subject, default: LimitCount(demand.limit, at: now)].add(
                demand.limit, bytesOut: bytesOut)
        }
        return nil
    }

    /// Counts content of an admitted request or of its response, if the quotas of all rules permit it; otherwise counts nothing.
    package mutating func take(
        _ length: UInt64, _ word: RuleLimit.Word, _ demands: [LimitDemand], at now: UInt64
    ) -> LimitRefusal? {
        for demand in demands {
            guard let count = prepare(demand, at: now), count.permits(length, word, of: demand.limit) else {
                // No window permits more than the whole quota. If the content is longer than the quota, a retry cannot succeed, so no
                // time for it is given.
                let isPossible = length <= demand.limit.most(word) ?? .max
                let wait = isPossible ? rules[Key(demand)]?.counts[demand.subject]?.windowRest(demand.limit, at: now) : nil
                return LimitRefusal(rule: demand.rule, word: word, limit: demand.limit, retryAfter: Self.seconds(wait))
            }
        }
        for demand in demands {
            rules[Key(demand)]?.counts[demand.subject, default: LimitCount(demand.limit, at: now)].add(
                length, word, of: demand.limit)
        }
        return nil
    }

    /// Why an admitted request may not be sent to an origin: a quota of `bytes_in` is used up. This check counts nothing.
    package mutating func refusalOfFetch(_ demands: [LimitDemand], at now: UInt64) -> LimitRefusal? {
        for demand in demands where demand.limit.bytesIn != nil {
            guard let count = prepare(demand, at: now), count.permitsFetch(demand.limit) else {
                let wait = rules[Key(demand)]?.counts[demand.subject]?.windowRest(demand.limit, at: now)
                return LimitRefusal(rule: demand.rule, word: .bytesIn, limit: demand.limit, retryAfter: Self.seconds(wait))
            }
        }
        return nil
    }

    /// The current count of the demand's subject; `nil` if there is no space for another subject. A new subject takes up space only when
    /// something is counted for it.
    private mutating func prepare(_ demand: LimitDemand, at now: UInt64) -> LimitCount? {
        let key = Key(demand)
        var ofRule = rules.removeValue(forKey: key) ?? former.removeValue(forKey: key) ?? OfRule(limit: demand.limit)
        defer { rules[key] = ofRule }
        if var count = ofRule.counts[demand.subject] {
            count.advance(demand.limit, to: now)
            ofRule.counts[demand.subject] = count
            return count
        }
        if ofRule.counts.count >= PolicyLimits.limitSubjects {
            guard now >= ofRule.nextSearch else { return nil }
            ofRule.removeIdle(at: now)
            guard ofRule.counts.count < PolicyLimits.limitSubjects else { return nil }
        }
        return LimitCount(demand.limit, at: now)
    }

    private static func seconds(_ microseconds: UInt64?) -> UInt64? {
        microseconds.map { max(1, $0 / 1_000_000 + ($0 % 1_000_000 == 0 ? 0 : 1)) }
    }
}

extension RuleLimit {
    fileprivate var firstQuota: Word { requests != nil ? .requests : bytesOut != nil ? .bytesOut : .bytesIn }
}
