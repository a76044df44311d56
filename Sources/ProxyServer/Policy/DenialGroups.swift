import HTTPMessage
import ProxyCore

/// The requests that report mode has forwarded, in groups: the same reason, method and host. Unlike the list of single requests, the groups
/// stay few when every request has another path.
package struct DenialGroups: Sendable {
    package struct Key: Hashable, Sendable {
        package let word: DenialWord
        /// The rule that would deny the requests; empty if they would be denied for another reason.
        package let rule: String
        package let method: String
        /// The host in lower case, with its port unless that is the default port.
        package let host: String
    }

    package struct Group: Sendable {
        package let key: Key
        /// The URL of the first request, without its query.
        package let example: String
        package fileprivate(set) var count: UInt64
        package fileprivate(set) var first: Timestamp
        package fileprivate(set) var last: Timestamp
    }

    /// The maximum number of groups; requests of further groups are only counted.
    package static let limit = 500

    package private(set) var groups: [Group] = []
    /// The number of requests that are in no group.
    package private(set) var omitted: UInt64 = 0
    private var places: [Key: Int] = [:]

    mutating func note(_ key: Key, example: String, at time: Timestamp) {
        if let place = places[key] {
            groups[place].count += 1
            // Requests are noted when they end, so a request that came earlier may be noted later.
            groups[place].first = min(groups[place].first, time)
            groups[place].last = max(groups[place].last, time)
        } else if groups.count < Self.limit {
            places[key] = groups.count
            groups.append(Group(key: key, example: example, count: 1, first: time, last: time))
        } else {
            omitted += 1
        }
    }
}
