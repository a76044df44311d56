import HTTPMessage

/// The canonical form of the request fields that one stored response nominates in Vary, with this request's values. Built once, then
/// compared byte by byte with the forms of many stored responses (RFC 9111 §4.1). Does not allocate.
///
/// Noncopyable, since each comparison would otherwise copy it.
struct RequestedVariant: ~Copyable {
    /// The maximum length of the form; for longer forms the fields are compared one by one.
    static let limit = 512

    private var octets: InlineArray<512, UInt8> = InlineArray(repeating: 0)
    private var count = 0
    /// The position of the first name's value, with its length prefix: two different forms nearly always differ there.
    private var firstValue = 0..<0
    /// Whether the form has everything that the secondary key requires.
    private var answersSecondaryKey = false

    /// - Parameter form: the canonical form of a stored response.
    /// - Returns: `nil` if the result would be too long, or the form is damaged.
    init?(nominatedBy form: Span<UInt8>, _ fields: Fields, _ secondary: SecondaryKey) {
        var missingCount = secondary.count
        var index = 0
        while index < form.count {
            let nameEnd = index + 1 + Int(form[index])
            guard form.count - nameEnd >= 2 else { return nil }
            let name = form.extracting(index + 1..<nameEnd)
            guard put(form.extracting(index..<nameEnd)) else { return nil }
            let valueStart = count
            if let octets = secondary.octets(under: name) {
                guard put(UInt16(octets.count)), put(octets.span) else { return nil }
                missingCount -= 1
            } else {
                guard putValue(of: name, fields) else { return nil }
                if secondary.contains(name) { missingCount -= 1 }
            }
            if index == 0 { firstValue = valueStart..<count }
            let valueCount = Int(form.littleEndian(at: nameEnd) as UInt16)
            index = nameEnd + 2 + (valueCount == Vary.absent ? 0 : valueCount)
        }
        guard index == form.count else { return nil }
        answersSecondaryKey = missingCount == 0
    }

    /// Whether the request matches the variant of this form; `nil` if the form nominates other fields.
    func isThat(of form: Span<UInt8>) -> Bool? {
        let own = octets.span.extracting(0..<count)
        let difference = own.firstDifference(from: form)
        if difference == count, difference == form.count { return answersSecondaryKey }
        if firstValue.contains(difference) { return false }
        // Both forms nominate the same fields up to the first differing byte. If that byte is in a value, the request needs another
        // variant.
        var index = 0
        while index < difference {
            let nameEnd = index + 1 + Int(own[index])
            if difference < nameEnd { return nil }
            let valueCount = Int(own.littleEndian(at: nameEnd) as UInt16)
            index = nameEnd + 2 + (valueCount == Vary.absent ? 0 : valueCount)
            if difference < index { return false }
        }
        return nil
    }

    // MARK: Writing

    private mutating func putValue(of name: Span<UInt8>, _ fields: Fields) -> Bool {
        let known = KnownField(name)
        guard let first = Vary.next(known, name, in: fields, from: 0) else { return put(UInt16(Vary.absent)) }
        let place = count
        guard put(UInt16(0)), Vary.writeCanonicalValue(of: name, known, in: fields, from: first, to: &self) else { return false }
        let valueCount = UInt16(count - place - 2)
        octets[place] = UInt8(truncatingIfNeeded: valueCount)
        octets[place + 1] = UInt8(truncatingIfNeeded: valueCount >> 8)
        return true
    }

    private mutating func put(_ number: UInt16) -> Bool {
        put(UInt8(truncatingIfNeeded: number)) && put(UInt8(truncatingIfNeeded: number >> 8))
    }

    private mutating func put(_ span: Span<UInt8>) -> Bool {
        guard span.count <= Self.limit - count else { return false }
        for index in 0..<span.count { octets[count + index] = span[index] }
        count += span.count
        return true
    }
}

extension RequestedVariant: CanonicalValueSink {
    mutating func put(_ byte: UInt8) -> Bool {
        guard count < Self.limit else { return false }
        octets[count] = byte
        count += 1
        return true
    }
}
