import HTTPMessage

/// Splits bytes into lines, which end with LF or CR LF.
package struct LineSplitter {
    private let limit: Int
    private var line: [UInt8] = []

    package init(limit: Int) { self.limit = limit }

    /// Reads on from `offset`, and moves it forward.
    /// - Returns: the next line without its end; `nil` if the input is used up.
    package mutating func next(_ input: Span<UInt8>, from offset: inout Int) throws(StreamFault) -> [UInt8]? {
        let start = offset
        while offset < input.count {
            guard input[offset] == ASCII.lf else {
                offset += 1
                continue
            }
            try append(input.extracting(start..<offset))
            offset += 1
            return try takeLine()
        }
        try append(input.extracting(start..<offset))
        // The limit is checked before the line ends. One byte more may be the CR of its end.
        if line.count > limit + 1 { throw .tooLong(limit: limit) }
        return nil
    }

    /// The bytes after the last end of a line; `nil` if there are none.
    package mutating func finish() throws(StreamFault) -> [UInt8]? { line.isEmpty ? nil : try takeLine() }

    private mutating func append(_ bytes: Span<UInt8>) throws(StreamFault) {
        guard bytes.count <= limit + 1 - min(line.count, limit + 1) else { throw .tooLong(limit: limit) }
        line.append(bytes)
    }

    private mutating func takeLine() throws(StreamFault) -> [UInt8] {
        if line.last == ASCII.cr { line.removeLast() }
        guard line.count <= limit else { throw .tooLong(limit: limit) }
        defer { line = [] }
        return line
    }
}
