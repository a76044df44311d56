import HTTPMessage

/// The age of a stored response (RFC 9111 §4.2.3, §5.1).
///
/// Larder computes the difference of two times of its own clock in milliseconds. It compares its clock with the origin server's Date in
/// whole seconds, since Date has no finer unit. A response that arrives within the same second as its Date has an apparent age of 0.
package enum Age {
    /// age_value: the first member of the Age field value; 0 if it is not a number or the field is absent (§5.1).
    static func value(of fields: Fields) -> DeltaSeconds {
        var index = fields.index(of: .age)
        while let found = index {
            let value = fields.value(of: fields.lines[found])
            var members = ListElements()
            if let first = members.next(in: value) { return DeltaSeconds(value.extracting(first)) ?? .zero }
            index = fields.index(of: .age, from: found + 1)
        }
        return .zero
    }

    /// corrected_initial_age in the conservative form (RFC 9111 §4.2.3). Never negative, at most 2^31 seconds.
    static func correctedInitialAgeInMilliseconds(
        ageValue: DeltaSeconds, dateValue: Timestamp, requestTime: Timestamp, responseTime: Timestamp
    ) -> Int64 {
        let apparentAge = max(0, responseTime.seconds - dateValue.seconds) * 1000
        let responseDelay = max(0, responseTime.milliseconds - requestTime.milliseconds)
        let correctedAgeValue = ageValue.milliseconds + responseDelay
        return min(max(apparentAge, correctedAgeValue), ReuseFacts.greatestAge)
    }

    /// The maximum length of an Age field line in bytes.
    package static let lineLimit = 24

    /// Appends an Age field line.
    package static func write(_ age: DeltaSeconds, into output: inout OutputSpan<UInt8>) {
        output.append("Age: ")
        output.append(decimal: UInt64(age.seconds))
        output.append("\r\n")
    }
}

extension ReuseFacts {
    /// current_age (RFC 9111 §4.2.3). If the clock was set back, the age is at least the age that the response had on arrival.
    func currentAgeInMilliseconds(at now: Timestamp) -> Int64 {
        let residentTime = max(0, now.milliseconds - responseTime.milliseconds)
        return min(initialAgeInMilliseconds + residentTime, Self.greatestAge)
    }

    /// current_age in whole seconds, as in the Age field.
    package func currentAge(at now: Timestamp) -> DeltaSeconds {
        DeltaSeconds(currentAgeInMilliseconds(at: now) / 1000)
    }
}
