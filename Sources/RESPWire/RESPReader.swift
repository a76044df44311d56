/// Reads the replies of one connection, as their bytes arrive.
///
/// Each reply is measured before it is read, so that a reply that is still incomplete costs no copies. The measure also tells how many
/// bytes are missing at least: until they have arrived, nothing is measured again.
package struct RESPReader: Sendable {
    private let limits: RESPLimits
    private var buffer: [UInt8] = []
    /// The position in `buffer` where the next reply begins.
    private var start = 0
    /// The number of bytes that the next reply needs at least, as far as is known.
    private var needed = 1

    /// The maximum capacity that an empty reader keeps, in bytes.
    private static var keptCapacity: Int { 256 << 10 }

    package init(limits: RESPLimits = RESPLimits()) { self.limits = limits }

    /// The number of bytes that arrived and belong to an incomplete reply.
    package var waitingCount: Int { buffer.count - start }

    package mutating func append(_ octets: UnsafeRawBufferPointer) { buffer.append(contentsOf: octets) }

    /// The next complete reply; `nil` if more bytes are needed.
    package mutating func next() throws(RESPFault) -> RESPValue? {
        guard buffer.count - start >= needed else { return nil }
        var measure = RESPMeasure(limits: limits)
        let outcome = try measure.measure(buffer.span, from: start)
        switch outcome {
        case .incomplete(let atLeast):
            needed = atLeast - start
            // The missing bytes could never be accepted.
            if needed > limits.reply { throw .tooLong }
            compact()
            return nil
        case .complete(let end):
            if end - start > limits.reply { throw .tooLong }
            var position = start
            let value = Self.read(buffer.span, &position)
            precondition(position == end, "a reply is read as it was measured")
            start = end
            needed = 1
            if start == buffer.count {
                start = 0
                buffer.removeAll(keepingCapacity: buffer.capacity <= Self.keptCapacity)
            }
            return value
        }
    }

    private mutating func compact() {
        guard start > 0 else { return }
        buffer.removeFirst(start)
        start = 0
    }

    // MARK: Reading what was measured

    private static func read(_ octets: Span<UInt8>, _ position: inout Int) -> RESPValue {
        let kind = octets[position]
        let line = RESPMeasure.line(octets, from: position + 1)!
        position = line.upperBound + 2
        switch kind {
        case UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: "("): return .text(copy(octets, line))
        case UInt8(ascii: "-"): return .error(EngineError(copy(octets, line)))
        case UInt8(ascii: ":"): return .integer(RESPMeasure.number(octets, line)!)
        case UInt8(ascii: "#"): return .flag(octets[line.lowerBound] == UInt8(ascii: "t"))
        case UInt8(ascii: "_"): return .null
        default: break
        }
        let count = Int(RESPMeasure.number(octets, line)!)
        if count < 0 { return .null }
        switch kind {
        case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "="):
            // A verbatim string begins with its format: three characters and a colon.
            let skipped = kind == UInt8(ascii: "=") ? min(4, count) : 0
            let content = copy(octets, position + skipped..<position + count)
            position += count + 2
            return kind == UInt8(ascii: "!") ? .error(EngineError(content)) : .bytes(content)
        case UInt8(ascii: "|"):
            // Attributes describe the next value, and are not needed.
            for _ in 0..<count * 2 { _ = read(octets, &position) }
            return read(octets, &position)
        default:
            var elements: [RESPValue] = []
            let total = kind == UInt8(ascii: "%") ? count * 2 : count
            elements.reserveCapacity(total)
            for _ in 0..<total { elements.append(read(octets, &position)) }
            return kind == UInt8(ascii: ">") ? .push(elements) : .list(elements)
        }
    }

    private static func copy(_ octets: Span<UInt8>, _ range: Range<Int>) -> [UInt8] {
        octets.extracting(range).withUnsafeBufferPointer { Array($0) }
    }
}

/// Finds the end of a reply and checks its form, without copying anything.
struct RESPMeasure {
    enum Outcome: Equatable {
        /// The end of the reply.
        case complete(Int)
        /// More bytes are needed: at least up to this position.
        case incomplete(Int)
    }

    let limits: RESPLimits
    private var elementCount = 0

    init(limits: RESPLimits) { self.limits = limits }

    mutating func measure(_ octets: Span<UInt8>, from start: Int) throws(RESPFault) -> Outcome {
        try measure(octets, from: start, depth: 0)
    }

    private mutating func measure(_ octets: Span<UInt8>, from start: Int, depth: Int) throws(RESPFault) -> Outcome {
        guard start < octets.count else { return .incomplete(start + 1) }
        elementCount += 1
        if elementCount > limits.elements { throw .tooManyElements }
        let kind = octets[start]
        guard Self.kinds.contains(kind) else { throw .malformed }
        guard let line = Self.line(octets, from: start + 1) else {
            if octets.count - start > limits.line { throw .tooLong }
            return .incomplete(octets.count + 1)
        }
        if line.count > limits.line { throw .tooLong }
        let end = line.upperBound + 2
        switch kind {
        case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: ","), UInt8(ascii: "("): return .complete(end)
        case UInt8(ascii: "_"):
            guard line.isEmpty else { throw .malformed }
            return .complete(end)
        case UInt8(ascii: "#"):
            let isFlag = line.count == 1 && [UInt8(ascii: "t"), UInt8(ascii: "f")].contains(octets[line.lowerBound])
            guard isFlag else { throw .malformed }
            return .complete(end)
        default: break
        }
        guard let number = Self.number(octets, line) else { throw .malformed }
        if kind == UInt8(ascii: ":") { return .complete(end) }
        if number < 0 {
            // RESP2 writes null as a string or an array of the length -1.
            guard number == -1, kind == UInt8(ascii: "$") || kind == UInt8(ascii: "*") else { throw .malformed }
            return .complete(end)
        }
        switch kind {
        case UInt8(ascii: "$"), UInt8(ascii: "!"), UInt8(ascii: "="):
            return try measureString(octets, from: end, count: number)
        default: return try measureElements(octets, kind: kind, from: end, count: number, depth: depth)
        }
    }

    private func measureString(_ octets: Span<UInt8>, from start: Int, count: Int64) throws(RESPFault) -> Outcome {
        if count > Int64(limits.string) { throw .tooLong }
        let end = start + Int(count)
        guard octets.count >= end + 2 else { return .incomplete(end + 2) }
        guard octets[end] == 0x0D, octets[end + 1] == 0x0A else { throw .malformed }
        return .complete(end + 2)
    }

    private mutating func measureElements(
        _ octets: Span<UInt8>, kind: UInt8, from start: Int, count: Int64, depth: Int
    ) throws(RESPFault) -> Outcome {
        if count > Int64(limits.elements) { throw .tooManyElements }
        if depth >= limits.depth { throw .tooDeep }
        let isOfPairs = kind == UInt8(ascii: "%") || kind == UInt8(ascii: "|")
        // The value that attributes describe follows them.
        let total = (isOfPairs ? Int(count) * 2 : Int(count)) + (kind == UInt8(ascii: "|") ? 1 : 0)
        var position = start
        for _ in 0..<total {
            switch try measure(octets, from: position, depth: depth + 1) {
            case .complete(let end): position = end
            case .incomplete(let atLeast): return .incomplete(atLeast)
            }
        }
        return .complete(position)
    }

    private static let kinds = Set("+-:$*_#,(!=%~>|".utf8)

    /// The line that begins here, without its CRLF; `nil` if it is incomplete.
    static func line(_ octets: Span<UInt8>, from start: Int) -> Range<Int>? {
        var index = start
        while index + 1 < octets.count {
            if octets[index] == 0x0D, octets[index + 1] == 0x0A { return start..<index }
            index += 1
        }
        return nil
    }

    static func number(_ octets: Span<UInt8>, _ line: Range<Int>) -> Int64? {
        guard !line.isEmpty, line.count <= 20 else { return nil }
        return octets.extracting(line).withUnsafeBufferPointer { Int64(String(decoding: $0, as: UTF8.self)) }
    }
}
