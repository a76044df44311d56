import HTTPMessage

/// The fields of each 103 response (Early Hints, RFC 8297) before a final response.
enum EarlyHints {
    /// Writes each response as lines of the form `name:value`, each with a line feed, and then an empty line. Names and values contain
    /// no line feeds.
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

    /// The first 103 responses, as many as the limits of a recording permit. The omitted responses cost a client only time.
    static func withinLimits(_ hints: [Fields]) -> [Fields] {
        var length = 0
        return Array(
            hints.prefix(SnapshotLimits.earlyHints).prefix { fields in
                length += encode([fields]).count
                return length <= SnapshotLimits.earlyHintsLength && fields.count <= SnapshotLimits.fieldLines
            })
    }
}
