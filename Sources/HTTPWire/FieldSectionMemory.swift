import HTTPMessage

/// The last field section, both as bytes and as parsed lines.
///
/// Programs send the same field lines with every request; usually only the target differs. If the bytes of a section up to its empty
/// line are the same as before, its lines are the same too. Comparing the bytes costs a tenth of parsing them. Only the limits are
/// checked again, because the request line may be longer, and a reload may have changed the limits.
struct FieldSectionMemory: Sendable {
    /// The maximum length of a section that is remembered, in bytes.
    static let lengthLimit = 2048

    private var octets: [UInt8] = []
    /// The positions of these lines are relative to the section's first byte.
    private var lines: [FieldLine] = []
    /// Whether the section has exactly one Host line, with a valid authority, so that it is valid after any request line.
    private(set) var holdsHost = false

    /// Adds the remembered lines to the head if the section that begins at `start` has the same bytes.
    /// - Returns: the end of the section; `nil` if the section differs, is incomplete, or exceeds the limits.
    func restore(at start: Int, in bytes: Span<UInt8>, into fields: inout Fields, limits: ParseLimits) -> Int? {
        let end = start + octets.count
        guard !octets.isEmpty, end <= bytes.count, end <= limits.headLength, lines.count <= limits.fieldCount,
            bytes.extracting(start..<end).isSame(as: octets.span)
        else { return nil }
        fields.note(lines, movedBy: start)
        return end
    }

    /// - Parameter fields: the lines of the section to remember, and no others.
    mutating func remember(_ section: Range<Int>, in bytes: Span<UInt8>, as fields: Fields) {
        octets.removeAll(keepingCapacity: true)
        lines.removeAll(keepingCapacity: true)
        holdsHost = false
        guard section.count <= Self.lengthLimit else { return }
        octets.append(bytes.extracting(section))
        for line in fields.lines { lines.append(line.moved(by: -section.lowerBound)) }
    }

    /// Records that the Host line of the remembered section is valid.
    mutating func noteHost() { holdsHost = true }
}
