import HTTPMessage

/// The priority parameters of a stream (RFC 9218 §4).
package struct StreamPriority: Equatable, Sendable {
    /// The urgency: 0 is the most urgent, 7 the least urgent.
    package var urgency: UInt8 = 3
    /// Whether the client can use a part of the response before all of it has arrived.
    package var isIncremental = false

    package init() {}

    package init(urgency: UInt8, isIncremental: Bool) {
        self.urgency = urgency
        self.isIncremental = isIncremental
    }

    /// Reads the value of a `priority` field or of PRIORITY_UPDATE. Ignores unknown parameters and values out of range (RFC 9218 §4).
    package init(parsing value: Span<UInt8>) {
        var members = ListElements()
        while let member = members.next(in: value) { note(value.extracting(member)) }
    }

    /// One member of the dictionary, such as `u=1`, `i`, `i=?0` (RFC 9651 §3.2). Its own parameters are ignored.
    private mutating func note(_ member: Span<UInt8>) {
        var end = 0
        while end < member.count, member[end] != ASCII.semicolon { end += 1 }
        let member = member.extracting(member.trimmedBounds(in: 0..<end))
        if member.count == 3, member[0] == UInt8(ascii: "u"), member[1] == ASCII.equals, member[2] &- 0x30 < 8 {
            urgency = member[2] - 0x30
        } else if member.equals("i") || member.equals("i=?1") {
            isIncremental = true
        } else if member.equals("i=?0") {
            isIncremental = false
        }
    }
}
