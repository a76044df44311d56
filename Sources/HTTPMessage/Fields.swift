/// The position of one field line in a head's bytes (RFC 9110 §5.2, "field line").
@usableFromInline
package struct FieldLine: Equatable, Sendable {
    @usableFromInline package var name: Extent
    @usableFromInline package var value: Extent
    @usableFromInline package var known: KnownField
    /// Whether the sender forbids compressors on the path to store this line (RFC 7541 §6.2.3, §7.1.3).
    @usableFromInline package var isNeverIndexed: Bool

    @inlinable
    package init(name: Extent, value: Extent, known: KnownField, isNeverIndexed: Bool = false) {
        self.name = name
        self.value = value
        self.known = known
        self.isNeverIndexed = isNeverIndexed
    }

    /// The position of the same line after `distance` bytes were inserted before the line (or removed, if `distance` is negative).
    @inlinable
    package func moved(by distance: Int) -> FieldLine {
        FieldLine(
            name: name.moved(by: distance), value: value.moved(by: distance), known: known, isNeverIndexed: isNeverIndexed)
    }
}

/// The field lines of a head or trailer section in the order received, and the bytes that hold them.
///
/// The bytes may hold more than the fields, such as a head's start line. Removing a line leaves its bytes in place. `removeAll` keeps
/// the storage, so a connection reads one head after another without allocating.
@usableFromInline
package struct Fields: Sendable {
    @usableFromInline package internal(set) var bytes: [UInt8]
    @usableFromInline package internal(set) var lines: [FieldLine]
    /// One bit for each known field. It is set if there is at least one line of that field.
    @usableFromInline package internal(set) var present: UInt64

    package init() {
        bytes = []
        lines = []
        present = 0
    }

    package var isEmpty: Bool { lines.isEmpty }
    package var count: Int { lines.count }

    package mutating func removeAll() {
        // This check avoids a call that would replace an empty range by an empty collection, which is generic code and slow.
        if !bytes.isEmpty { bytes.removeAll(keepingCapacity: true) }
        if !lines.isEmpty { lines.removeAll(keepingCapacity: true) }
        present = 0
    }

    /// Reserves capacity for bytes and lines that are about to be added.
    package mutating func reserve(byteCount: Int, lineCount: Int) {
        bytes.reserveCapacity(byteCount)
        lines.reserveCapacity(lineCount)
    }

    // MARK: Reading

    @inlinable @inline(__always)
    @_lifetime(borrow self)
    package func span(of extent: Extent) -> Span<UInt8> { bytes.span.extracting(extent.range) }

    @inlinable
    @_lifetime(borrow self)
    package func name(of line: FieldLine) -> Span<UInt8> { bytes.span.extracting(line.name.range) }

    @inlinable
    @_lifetime(borrow self)
    package func value(of line: FieldLine) -> Span<UInt8> { bytes.span.extracting(line.value.range) }

    @inlinable
    package func contains(_ field: KnownField) -> Bool { present & field.bit != 0 }

    /// The index of the first line of this field at or after the index `start`; `nil` if there is none.
    @inlinable
    package func index(of field: KnownField, from start: Int = 0) -> Int? {
        guard contains(field) else { return nil }
        var index = start
        while index < lines.count {
            if lines[index].known == field { return index }
            index += 1
        }
        return nil
    }

    /// The first line of this field; `nil` if there is none.
    @inlinable
    package func first(_ field: KnownField) -> FieldLine? {
        guard let index = index(of: field) else { return nil }
        return lines[index]
    }

    /// The index of the first line with this name at or after the index `start`; `nil` if there is none. Names are compared
    /// case-insensitively.
    package func index(ofName name: Span<UInt8>, from start: Int = 0) -> Int? {
        var index = start
        while index < lines.count {
            if self.name(of: lines[index]).equalsIgnoringCase(name) { return index }
            index += 1
        }
        return nil
    }

    /// The number of lines of this field.
    package func lineCount(of field: KnownField) -> Int {
        guard contains(field) else { return 0 }
        var count = 0
        for line in lines where line.known == field { count += 1 }
        return count
    }

    /// The value of a line as text for messages and tests; invalid UTF-8 is replaced. Too slow to be called for every request.
    package func text(of extent: Extent) -> String { String(decoding: bytes[extent.range], as: UTF8.self) }

    /// All values of this field joined by a comma (RFC 9110 §5.3); `nil` if there is no line of the field. Too slow to be called for
    /// every request.
    package func combinedValue(of field: KnownField) -> String? {
        var result: String?
        for line in lines where line.known == field {
            let value = text(of: line.value)
            result = result.map { $0 + ", " + value } ?? value
        }
        return result
    }

    /// The values of all lines with this name (in lower case), joined by a comma and a space (RFC 9110 §5.3). Too slow to be called for
    /// every request.
    package func value(ofAllLinesNamed name: [UInt8]) -> [UInt8]? {
        var joined: [UInt8]?
        var index = index(ofName: name.span)
        while let found = index {
            let value = Array(bytes[lines[found].value.range])
            joined = joined.map { $0 + [ASCII.comma, ASCII.space] + value } ?? value
            index = self.index(ofName: name.span, from: found + 1)
        }
        return joined
    }

    // MARK: Writing

    /// Appends raw bytes, such as a whole head as received, and returns their position.
    @discardableResult
    package mutating func appendBytes(_ span: Span<UInt8>) -> Extent {
        let start = bytes.count
        bytes.append(span)
        return Extent(offset: start, count: span.count)
    }

    /// Appends a copy of these bytes.
    package mutating func appendCopy(of extent: Extent) {
        let start = bytes.count
        bytes.append(contentsOf: repeatElement(0, count: Int(extent.count)))
        bytes.withUnsafeMutableBytes { bytes in
            UnsafeMutableRawBufferPointer(rebasing: bytes[start...]).copyMemory(
                from: UnsafeRawBufferPointer(rebasing: bytes[extent.range]))
        }
    }

    /// Adds a line whose bytes are already in `bytes`, at the positions that the line gives.
    @inlinable @inline(__always)
    package mutating func note(_ line: FieldLine) {
        lines.append(line)
        present |= line.known.bit
    }

    /// Adds lines whose bytes are already in `bytes`, `distance` bytes after the positions that the lines give.
    package mutating func note(_ moved: [FieldLine], movedBy distance: Int) {
        // See `Array<UInt8>.append(_: StaticString)`: adding nothing to an empty array would write to shared storage.
        if moved.isEmpty { return }
        lines.append(addingCapacity: moved.count) { lines in
            for index in moved.indices {
                lines.append(moved[index].moved(by: distance))
                present |= moved[index].known.bit
            }
        }
    }

    package mutating func append(name: Span<UInt8>, value: Span<UInt8>, isNeverIndexed: Bool = false) {
        let known = KnownField(name)
        let nameExtent = appendBytes(name)
        let valueExtent = appendBytes(value)
        note(FieldLine(name: nameExtent, value: valueExtent, known: known, isNeverIndexed: isNeverIndexed))
    }

    package mutating func append(_ name: StaticString, _ value: StaticString) {
        let start = bytes.count
        bytes.append(name)
        bytes.append(value)
        noteTail(from: start, nameCount: name.utf8CodeUnitCount)
    }

    package mutating func append(_ name: StaticString, _ value: Span<UInt8>) {
        let start = bytes.count
        bytes.append(name)
        bytes.append(value)
        noteTail(from: start, nameCount: name.utf8CodeUnitCount)
    }

    /// Appends a line with this name and value in UTF-8. For rules, tests and messages.
    package mutating func append(name: String, value: String) {
        append(name: name.utf8.span, value: value.utf8.span)
    }

    /// Removes every line for which `shouldRemove` returns true. The bytes of removed lines stay until `removeAll`.
    package mutating func remove(where shouldRemove: (Fields, FieldLine) -> Bool) {
        var kept = 0
        present = 0
        for index in 0..<lines.count {
            let line = lines[index]
            if shouldRemove(self, line) { continue }
            lines[kept] = line
            kept += 1
            present |= line.known.bit
        }
        lines.removeLast(lines.count - kept)
    }

    package mutating func remove(_ field: KnownField) {
        guard contains(field) else { return }
        remove { _, line in line.known == field }
    }

    /// Writes `name: value CRLF` for one line, with its bytes unchanged.
    package func write(_ line: FieldLine, into output: inout [UInt8]) {
        let name = name(of: line)
        let value = value(of: line)
        output.append(addingCapacity: name.count + value.count + 4) { output in
            output.append(name)
            output.append(": ")
            output.append(value)
            output.append("\r\n")
        }
    }

    private mutating func noteTail(from start: Int, nameCount: Int) {
        let name = Extent(offset: start, count: nameCount)
        let value = Extent(offset: start + nameCount, count: bytes.count - start - nameCount)
        note(FieldLine(name: name, value: value, known: KnownField(span(of: name))))
    }
}
