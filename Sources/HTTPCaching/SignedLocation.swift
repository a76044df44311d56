import HTTPMessage

/// When the signature in a redirect's Location expires. After that, a client that follows the redirect gets an error, even if the
/// redirect is fresh.
///
/// Larder supports the query parameters of these services: Amazon S3 and compatible services (`X-Amz-Date` with `X-Amz-Expires`),
/// Google Cloud Storage (`X-Goog-Date` with `X-Goog-Expires`), and Alibaba Cloud OSS (`x-oss-date` with `x-oss-expires`).
/// `Expires` in seconds since 1970 is for S3's signature version 2, OSS and CloudFront. `Policy` is CloudFront's custom policy,
/// and `se` is for Azure Storage (RFC 3339). Larder also reads `exp` of a JWT (RFC 7519 §4.1.4). The JWT may be the value of a
/// parameter of the query or the fragment, or a whole path segment.
enum SignedLocation {
    /// The earliest expiry that Location names; `nil` if the response is not a redirect or Location has no such signature.
    static func end(of response: ResponseHead) -> Timestamp? {
        guard (300...399).contains(response.status.code), response.status != .notModified,
            let line = response.fields.first(.location)
        else { return nil }
        return end(ofLocation: response.fields.value(of: line))
    }

    static func end(ofLocation location: Span<UInt8>) -> Timestamp? {
        var end = 0
        var query: Int?
        while end < location.count, location[end] != UInt8(ascii: "#") {
            if location[end] == UInt8(ascii: "?"), query == nil { query = end }
            end += 1
        }
        var terms = Terms()
        forEachPart(of: location, in: 0..<(query ?? end), separator: UInt8(ascii: "/")) { terms.note(segment: $0) }
        if let query {
            forEachPart(of: location, in: query + 1..<end, separator: UInt8(ascii: "&")) { terms.note($0) }
        }
        // The fragment is not sent to the server, so only a token in it expires for the client.
        if end < location.count {
            forEachPart(of: location, in: end + 1..<location.count, separator: UInt8(ascii: "&")) { terms.note(fragment: $0) }
        }
        return terms.end
    }

    private static func forEachPart(
        of text: Span<UInt8>, in range: Range<Int>, separator: UInt8, _ body: (Span<UInt8>) -> Void
    ) {
        var start = range.lowerBound
        while start < range.upperBound {
            var next = start
            while next < range.upperBound, text[next] != separator { next += 1 }
            body(text.extracting(start..<next))
            start = next + 1
        }
    }

    /// The expiry terms in the segments and parameters of one Location.
    private struct Terms {
        private var amazon = Period()
        private var google = Period()
        private var alibaba = Period()
        private var named: Timestamp?

        var end: Timestamp? { [amazon.end, google.end, alibaba.end, named].compactMap { $0 }.min() }

        mutating func note(_ parameter: Span<UInt8>) {
            var equals = 0
            while equals < parameter.count, parameter[equals] != UInt8(ascii: "=") { equals += 1 }
            guard equals < parameter.count else { return }
            let decodedName = PercentEncoding.decode(parameter.extracting(0..<equals))
            let name = decodedName.span
            let value = PercentEncoding.decode(parameter.extracting(equals + 1..<parameter.count))
            if name.equalsIgnoringCase("x-amz-date") {
                amazon.start = BasicTime.seconds(value.span)
            } else if name.equalsIgnoringCase("x-amz-expires") {
                amazon.length = DeltaSeconds(value.span)
            } else if name.equalsIgnoringCase("x-goog-date") {
                google.start = BasicTime.seconds(value.span)
            } else if name.equalsIgnoringCase("x-goog-expires") {
                google.length = DeltaSeconds(value.span)
            } else if name.equalsIgnoringCase("x-oss-date") {
                alibaba.start = BasicTime.seconds(value.span)
            } else if name.equalsIgnoringCase("x-oss-expires") {
                alibaba.length = DeltaSeconds(value.span)
            } else if name.equals("Policy") {
                note(CloudFrontPolicy.expiry(of: value))
            } else if name.equalsIgnoringCase("expires") {
                note(epochSeconds(value.span))
            } else if name.equals("se") {
                note(BasicTime.seconds(value.span))
            } else if let expiry = JSONWebToken.expiry(of: value) {
                note(expiry)
            }
        }

        mutating func note(fragment: Span<UInt8>) {
            var start = fragment.count
            while start > 0, fragment[start - 1] != UInt8(ascii: "=") { start -= 1 }
            note(segment: fragment.extracting(start..<fragment.count))
        }

        mutating func note(segment: Span<UInt8>) { note(JSONWebToken.expiry(of: PercentEncoding.decode(segment))) }

        private mutating func note(_ seconds: Int64?) {
            // The computed expiry is later than the latest possible date, so the signature is treated as unlimited.
            guard let seconds, seconds <= CivilDate.latest else { return }
            let time = Timestamp(seconds: seconds)
            named = named.map { min($0, time) } ?? time
        }

        /// At least ten digits are required: a smaller number is a duration, not a time.
        private func epochSeconds(_ value: Span<UInt8>) -> Int64? {
            guard (10...11).contains(value.count) else { return nil }
            return SignedLocation.number(value)
        }
    }

    private struct Period {
        var start: Int64?
        var length: DeltaSeconds?

        var end: Timestamp? {
            guard let start, let length else { return nil }
            return Timestamp(seconds: start + Int64(length.seconds))
        }
    }

    /// Parses decimal digits only, at most eighteen.
    fileprivate static func number(_ text: Span<UInt8>) -> Int64? {
        guard (1...18).contains(text.count) else { return nil }
        var number: Int64 = 0
        for index in 0..<text.count {
            guard ASCII.isDigit(text[index]) else { return nil }
            number = number * 10 + Int64(text[index] &- 0x30)
        }
        return number
    }
}

/// Parses ISO 8601, in basic form (`20261124T103000Z`) or extended form (`2026-11-24T10:30:00Z`); the time may be omitted. A time without
/// an offset such as `+02:00` is in UTC.
private enum BasicTime {
    static func seconds(_ text: Span<UInt8>) -> Int64? {
        let (end, offset) = self.offset(in: text)
        guard let offset else { return nil }
        var digits: [UInt8] = []
        var index = 0
        while index < end {
            let byte = text[index]
            if ASCII.isDigit(byte) {
                digits.append(byte)
            } else if byte == UInt8(ascii: ".") {
                // Fractions of a second are ignored, which rounds down.
                repeat { index += 1 } while index < end && ASCII.isDigit(text[index])
                continue
            } else if !isSeparator(byte) {
                return nil
            }
            index += 1
        }
        guard [8, 12, 14].contains(digits.count) else { return nil }
        let all = digits
        func part(_ range: Range<Int>) -> Int { all[range].reduce(0) { $0 * 10 + Int($1 &- 0x30) } }
        guard let day = CivilDate(year: part(0..<4), month: part(4..<6), day: part(6..<8)) else { return nil }
        let hour = all.count > 8 ? part(8..<10) : 0
        let minute = all.count > 8 ? part(10..<12) : 0
        let second = all.count > 12 ? part(12..<14) : 0
        guard hour < 24, minute < 60, second <= 60 else { return nil }
        return day.daysSince1970 * 86_400 + Int64(hour * 3600 + minute * 60 + second) - offset
    }

    /// The offset from UTC at the end of a time, in seconds: `+02:00`, `-0530` or `+02`. In a query, a `+` may have become a space.
    /// - Returns: where the time ends; and 0 if it has no offset, or `nil` if the offset is invalid.
    private static func offset(in text: Span<UInt8>) -> (end: Int, seconds: Int64?) {
        var start = 0
        while start < text.count, text[start] != UInt8(ascii: "T"), text[start] != UInt8(ascii: "t") { start += 1 }
        while start < text.count, !isSign(text[start]) { start += 1 }
        guard start < text.count else { return (text.count, 0) }
        var digits: [Int64] = []
        for index in start + 1..<text.count where text[index] != UInt8(ascii: ":") {
            guard ASCII.isDigit(text[index]) else { return (start, nil) }
            digits.append(Int64(text[index] &- 0x30))
        }
        guard digits.count == 2 || digits.count == 4 else { return (start, nil) }
        let minutes = digits.count == 4 ? digits[2] * 10 + digits[3] : 0
        let hours = digits[0] * 10 + digits[1]
        guard hours < 24, minutes < 60 else { return (start, nil) }
        return (start, (hours * 3600 + minutes * 60) * (text[start] == UInt8(ascii: "-") ? -1 : 1))
    }

    private static func isSign(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: " ")
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "T"), UInt8(ascii: "t"), UInt8(ascii: "Z"), UInt8(ascii: "z"):
            true
        default: false
        }
    }
}

/// The custom policy of a URL that CloudFront serves: JSON in base64, with `-`, `_` and `~` in place of `+`, `=` and `/`.
private enum CloudFrontPolicy {
    /// - Returns: the time at which the policy ends, in seconds since 1970. Its beginning (`DateGreaterThan`) does not count.
    static func expiry(of text: [UInt8]) -> Int64? {
        let letters = text.map { letter in
            switch letter {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "=")
            case UInt8(ascii: "~"): UInt8(ascii: "/")
            default: letter
            }
        }
        guard let policy = Base64.decode(letters) else { return nil }
        let condition = Array(#""DateLessThan""#.utf8)
        var smallest: Int64?
        var index = 0
        while index + condition.count <= policy.count {
            guard policy[index..<index + condition.count].elementsEqual(condition) else {
                index += 1
                continue
            }
            index += condition.count
            // `{"AWS:EpochTime":1717200300}`
            let object = policy[index...].prefix(64).prefix { $0 != UInt8(ascii: "}") }
            let digits = object.drop { !ASCII.isDigit($0) }.prefix(while: ASCII.isDigit)
            if let number = SignedLocation.number(digits.span) { smallest = min(smallest ?? number, number) }
        }
        return smallest
    }
}

/// The `exp` claim of a JSON Web Token in compact form (RFC 7515 §7.1): three parts in base64url, of which the second has the claims.
private enum JSONWebToken {
    static func expiry(of token: [UInt8]) -> Int64? {
        // The first two bytes of a JSON object, `{"`, in base64url.
        guard token.starts(with: "eyJ".utf8) else { return nil }
        let parts = token.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let claims = Base64.decodeFromURL(parts[1]) else { return nil }
        return smallest(of: claims)
    }

    /// The smallest number of any member named `exp`, at any depth. The result is an upper limit, so a nested `exp` can only make the
    /// limit earlier.
    private static func smallest(of claims: [UInt8]) -> Int64? {
        let name = Array(#""exp""#.utf8)
        var smallest: Int64?
        var index = 0
        while index + name.count <= claims.count {
            guard claims[index..<index + name.count].elementsEqual(name) else {
                index += 1
                continue
            }
            index += name.count
            var place = index
            let skipBlanks = { while place < claims.count, claims[place] <= 0x20 { place += 1 } }
            skipBlanks()
            guard place < claims.count, claims[place] == UInt8(ascii: ":") else { continue }
            place += 1
            skipBlanks()
            let end = claims[place...].firstIndex { !ASCII.isDigit($0) } ?? claims.count
            guard let number = SignedLocation.number(claims.span.extracting(place..<end)) else { continue }
            smallest = min(smallest ?? number, number)
        }
        return smallest
    }
}
