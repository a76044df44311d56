import HTTPMessage

/// The last field section, as bytes and as parsed lines.
///
/// Programs send the same field lines with every request; usually only the target differs. If the bytes up to the empty line are the
/// same, so are the lines. Comparing the bytes costs a tenth of parsing them. Only the limits are checked again: the request line may
/// be longer, and a reload may have changed the limits.
struct FieldSectionMemory: Sendable {
    /// Longer sections are not remembered.
    static let lengthLimit = 2048

    private var octets: [UInt8] = []
    /// The positions of these lines are relative to the section's first byte.
    private var lines: [FieldLine] = []
    /// Whether the section has exactly one Host line, with a valid authority, so that it is valid after any request line.
    private(set) var holdsHost = false

    /// Adds the remembered lines if the section that begins at `start` has the same bytes.
    /// - Returns: where it ends; `nil` if it differs, is incomplete, or exceeds the limits.
    func restore(at start: Int, in bytes: Span<UInt8>, into fields: inout Fields, limits: ParseLimits) -> Int? {
        let end = start + octets.count
        guard !octets.isEmpty, end <= bytes.count, end <= limits.headLength, lines.count <= limits.fieldCount,
            bytes.extracting(start..<end).isSame(as: octets.span)
        else { return nil }
        fields.note(lines, movedBy: start)
        return end
    }

    /// - Parameter fields: the lines of this section only.
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
