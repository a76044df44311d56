import HTTPMessage

extension FoundRecording {
    /// The same recording as if it had been made at another time. Shifts Date, Expires and the expiry dates of cookies by the
    /// difference of the two times.
    package func moved(to time: Timestamp) -> FoundRecording {
        var recording = recording
        recording.response?.fields.moveDates(from: recording.times.started, to: time)
        for index in recording.response?.earlyHints.indices ?? 0..<0 {
            recording.response?.earlyHints[index].moveDates(from: recording.times.started, to: time)
        }
        recording.times.started = time
        return FoundRecording(
            recording: recording, place: place, position: position, sequenceLength: sequenceLength, isFromGet: isFromGet)
    }
}

extension Fields {
    /// Shifts the dates of a response. Values that are not dates stay unchanged.
    mutating func moveDates(from start: Timestamp, to end: Timestamp) {
        let distance = end.seconds - start.seconds
        guard distance != 0, contains(.date) || contains(.expires) || contains(.setCookie) else { return }
        var moved = Fields()
        moved.reserve(byteCount: bytes.count, lineCount: count)
        for line in lines {
            var octets: [UInt8] = []
            octets.append(value(of: line))
            switch line.known {
            case .date, .expires: octets = Self.date(octets[...], movedBy: distance, start) ?? octets
            case .setCookie: octets = Self.cookie(octets, movedBy: distance, start)
            default: break
            }
            moved.append(name: name(of: line), value: octets.span)
        }
        self = moved
    }

    private static func date(_ octets: ArraySlice<UInt8>, movedBy distance: Int64, _ now: Timestamp) -> [UInt8]? {
        guard let date = HTTPDate.parse(Array(octets).span, now: now) else { return nil }
        var text: [UInt8] = []
        HTTPDate.write(date.advanced(seconds: distance), into: &text)
        return text
    }

    /// Shifts the Expires attribute of a cookie, which follows a semicolon (RFC 6265 §4.1.1). `Max-Age` is relative, and stays
    /// unchanged.
    private static func cookie(_ octets: [UInt8], movedBy distance: Int64, _ now: Timestamp) -> [UInt8] {
        var parts = octets.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map { Array($0) }
        for index in parts.indices.dropFirst() {
            let blanks = parts[index].prefix { $0 == ASCII.space || $0 == ASCII.tab }.count
            let name = Array("expires=".utf8)
            let attribute = parts[index].dropFirst(blanks)
            guard attribute.prefix(name.count).map(ASCII.lowercased) == name else { continue }
            let place = blanks + name.count
            // Some servers write the date of a cookie with hyphens, which RFC 6265 §5.1.1 accepts but the grammar of HTTP-date does
            // not.
            var value = Array(parts[index][place...])
            if value.count == 29, value[7] == UInt8(ascii: "-"), value[11] == UInt8(ascii: "-") {
                value[7] = ASCII.space
                value[11] = ASCII.space
            }
            if let date = Self.date(value[...], movedBy: distance, now) { parts[index].replaceSubrange(place..., with: date) }
        }
        return Array(parts.joined(separator: [UInt8(ascii: ";")]))
    }
}
