import HTTPMessage

/// Responses with the status 103 (Early Hints, RFC 8297) that came before a final response, each by its fields.
enum EarlyHints {
    /// Of each the fields, `name:value` with a line feed behind, and an empty line. No name and no value holds a line feed.
    static func encode(_ hints: [Fields]) -> [UInt8] {
        var octets: [UInt8] = []
        for fields in hints {
            for line in fields.lines {
                octets.append(fields.name(of: line))
                octets.append(ASCII.colon)
                octets.append(fields.value(of: line))
                octets.append(ASCII.lf)
            }
            octets.append(ASCII.lf)
        }
        return octets
    }

    static func areWithinLimits(_ hints: [Fields]) -> Bool { withinLimits(hints).count == hints.count }

    /// The first of them, up to what a recording may hold. A client misses nothing by the others but time.
    static func withinLimits(_ hints: [Fields]) -> [Fields] {
        var length = 0
        return Array(
            hints.prefix(SnapshotLimits.earlyHints).prefix { fields in
                length += encode([fields]).count
                return length <= SnapshotLimits.earlyHintsLength && fields.count <= SnapshotLimits.fieldLines
            })
    }
}
