import HTTPMessage

/// The field section that was read last, as bytes and as the lines found in them.
///
/// A program sends the same field lines with every request: mostly the target is all that differs. The same bytes up to the empty
/// line hold the same lines wherever they stand, so that comparing them, which costs a tenth, says all that reading them again would.
/// Only the limits are asked again: what stands before may be longer now, and the limits are others after a reload.
struct FieldSectionMemory: Sendable {
    /// Longer ones are read each time.
    static let lengthLimit = 2048

    private var octets: [UInt8] = []
    /// Their places count from the section's first byte.
    private var lines: [FieldLine] = []
    /// One Host stands among them, and names an authority: right for whatever stands before the section.
    private(set) var holdsHost = false

    /// Notes the lines of the section that begins at `start`, where it is the one of before.
    /// - Returns: where it ends; `nil` where it is another, is not complete, or is more than the limits allow.
    func restore(at start: Int, in bytes: Span<UInt8>, into fields: inout Fields, limits: ParseLimits) -> Int? {
        let end = start + octets.count
        guard !octets.isEmpty, end <= bytes.count, end <= limits.headLength, lines.count <= limits.fieldCount,
            bytes.extracting(start..<end).isSame(as: octets.span)
        else { return nil }
        fields.note(lines, movedBy: start)
        return end
    }

    /// - Parameter fields: those of the section alone.
    mutating func remember(_ section: Range<Int>, in bytes: Span<UInt8>, as fields: Fields) {
        octets.removeAll(keepingCapacity: true)
        lines.removeAll(keepingCapacity: true)
        holdsHost = false
        guard section.count <= Self.lengthLimit else { return }
        octets.append(bytes.extracting(section))
        for line in fields.lines { lines.append(line.moved(by: -section.lowerBound)) }
    }

    /// The section is the one of before, and its Host was found to be right.
    mutating func noteHost() { holdsHost = true }
}
