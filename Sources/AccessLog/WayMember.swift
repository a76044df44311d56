import HTTPMessage

/// The way on which a request left, as a member of the request's log line.
package enum WayMember {
    /// - Parameter way: the name of the way, which needs no escaping (`UpstreamWayTerms`).
    package static func member(way: String) -> [UInt8] {
        var member: [UInt8] = []
        member.append(addingCapacity: 16 + way.utf8.count) { output in
            let name = Array(way.utf8)
            output.append(member: ",\"way\":", name.span)
        }
        return member
    }
}
