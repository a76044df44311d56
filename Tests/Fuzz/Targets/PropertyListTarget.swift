import HTTPSerialization

extension FuzzTarget {
    /// A property list in either form: what is read is written in both, and read and written as the same again.
    package static let propertyList = FuzzTarget("PropertyList") { octets in
        let limits = PropertyListLimits(length: 4096, depth: 12, valueCount: 500)
        guard let value = try? PropertyListValue(parsing: octets, limits: limits) else { return nil }
        if value.json.text().isEmpty { return "no JSON" }
        for form in [PropertyListValue.Form.binary, .xml] {
            // Integers of 16 bytes, and what XML has no characters for.
            guard let written = try? value.octets(form) else { continue }
            // Written, what was shared may be long.
            guard let again = try? PropertyListValue(parsing: written) else { return "what was written is refused" }
            // Bytes are compared, since a real that is no number is not equal to itself.
            if (try? again.octets(form)) != written { return "what was written is another" }
        }
        return nil
    }
}
