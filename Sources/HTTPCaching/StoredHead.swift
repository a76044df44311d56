import HTTPMessage

/// The compact encoding of a stored head, or of trailers, as a BLOB.
///
/// Version (1 byte), status (2), length of the reason phrase (2), number of lines (2); for each line the lengths of its name (2) and
/// value (4); then the reason phrase and all names and values. Numbers are little endian. Decoding validates everything.
package enum StoredHead {
    private static let encodingVersion: UInt8 = 1
    private static let prefixCount = 7
    private static let lineCount = 6
    /// A head with more lines, or with a longer encoding, is treated as corrupt.
    package static let lineLimit = 1024
    package static let encodedCountLimit = 1 << 20

    /// Whether a head with these fields, plus a Date line added by Larder, can be decoded again.
    package static func holds(_ fields: Fields, reasonCount: UInt32) -> Bool {
        guard fields.count < lineLimit, reasonCount <= UInt16.max else { return false }
        var count = prefixCount + (fields.count + 1) * lineCount + Int(reasonCount) + dateLength
        for line in fields.lines {
            guard line.name.count <= UInt16.max else { return false }
            count += Int(line.name.count) + Int(line.value.count)
        }
        return count <= encodedCountLimit
    }

    /// The trailers; empty if their encoding could not be decoded again, since any recipient may discard trailers (RFC 9110 §6.5.1).
    package static func held(_ trailers: Fields) -> Fields { holds(trailers, reasonCount: 0) ? trailers : Fields() }

    private static let dateLength = 64

    package static func encode(_ head: ResponseHead, into output: inout [UInt8]) {
        encode(head.fields, status: head.status, reason: head.span(of: head.reason), into: &output)
    }

    package static func encode(trailers: Fields, into output: inout [UInt8]) {
        encode(trailers, status: Status(0), reason: trailers.span(of: .empty), into: &output)
    }

    /// `nil` unless the bytes are a complete, well-formed head.
    package static func decode(_ bytes: Span<UInt8>) -> ResponseHead? {
        guard let head = decodeAny(bytes), (200...599).contains(head.status.code) else { return nil }
        return head
    }

    package static func decodeTrailers(_ bytes: Span<UInt8>) -> Fields? {
        guard let head = decodeAny(bytes), head.status.code == 0 else { return nil }
        return head.fields
    }

    /// The position of a field's first value in an encoded head; `nil` if the field is absent. The rest of the head is not decoded.
    package static func firstValue(of field: KnownField, in bytes: Span<UInt8>) -> Range<Int>? {
        guard bytes.count >= prefixCount else { return nil }
        let count = Int(bytes.littleEndian(at: 5) as UInt16)
        var offset = prefixCount + count * lineCount + Int(bytes.littleEndian(at: 3) as UInt16)
        guard offset <= bytes.count else { return nil }
        for index in 0..<count {
            let entry = prefixCount + index * lineCount
            let value = offset + Int(bytes.littleEndian(at: entry) as UInt16)
            let end = value + Int(bytes.littleEndian(at: entry + 2) as UInt32)
            guard end <= bytes.count else { return nil }
            if KnownField(bytes.extracting(offset..<value)) == field { return value..<end }
            offset = end
        }
        return nil
    }

    private static func encode(_ fields: Fields, status: Status, reason: Span<UInt8>, into output: inout [UInt8]) {
        output.append(encodingVersion)
        output.append(littleEndian: status.code)
        output.append(littleEndian: UInt16(truncatingIfNeeded: reason.count))
        output.append(littleEndian: UInt16(truncatingIfNeeded: fields.count))
        for line in fields.lines {
            output.append(littleEndian: UInt16(truncatingIfNeeded: line.name.count))
            output.append(littleEndian: line.value.count)
        }
        output.append(reason)
        for line in fields.lines {
            output.append(fields.name(of: line))
            output.append(fields.value(of: line))
        }
    }

    private static func decodeAny(_ bytes: Span<UInt8>) -> ResponseHead? {
        guard bytes.count >= prefixCount, bytes.count <= encodedCountLimit, bytes[0] == encodingVersion else { return nil }
        var head = ResponseHead()
        head.status = Status(bytes.littleEndian(at: 1))
        let reasonCount = Int(bytes.littleEndian(at: 3) as UInt16)
        let count = Int(bytes.littleEndian(at: 5) as UInt16)
        let textStart = prefixCount + count * lineCount
        guard count <= lineLimit, bytes.count - textStart >= reasonCount else { return nil }
        let text = bytes.extracting(textStart..<bytes.count)
        guard isFieldValue(text.extracting(0..<reasonCount)) else { return nil }
        head.reason = Extent(offset: 0, count: reasonCount)
        head.fields.appendBytes(text)
        var offset = reasonCount
        for index in 0..<count {
            let entry = prefixCount + index * lineCount
            let nameCount = Int(bytes.littleEndian(at: entry) as UInt16)
            let valueCount = Int(bytes.littleEndian(at: entry + 2) as UInt32)
            guard text.count - offset >= nameCount + valueCount else { return nil }
            let name = text.extracting(offset..<offset + nameCount)
            guard isToken(name), isFieldValue(text.extracting(offset + nameCount..<offset + nameCount + valueCount)) else {
                return nil
            }
            head.fields.note(
                FieldLine(
                    name: Extent(offset: offset, count: nameCount),
                    value: Extent(offset: offset + nameCount, count: valueCount), known: KnownField(name)))
            offset += nameCount + valueCount
        }
        return offset == text.count ? head : nil
    }

    private static func isToken(_ name: Span<UInt8>) -> Bool {
        for index in 0..<name.count where !ASCII.isTokenCharacter(name[index]) { return false }
        return !name.isEmpty
    }

    private static func isFieldValue(_ value: Span<UInt8>) -> Bool {
        for index in 0..<value.count where !ASCII.isFieldValueCharacter(value[index]) { return false }
        return true
    }
}
