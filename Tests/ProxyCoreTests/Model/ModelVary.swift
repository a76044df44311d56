/// Selecting a stored response by Vary (RFC 9111 §4.1).
enum ModelVary {
    static func nominated(_ response: ModelResponse) -> [String] {
        response.fields.values("vary").flatMap { ModelText.members($0) }.map { $0.lowercased() }
    }

    /// "adding or removing whitespace, where allowed in the header field's syntax": for an unknown field, only around its value; "combining
    /// multiple header field lines with the same field name". Nothing else is normalized.
    static func value(_ name: String, in request: ModelRequest) -> String? {
        let values = request.fields.values(name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// "all the selecting header fields nominated by the Vary header field match in both the original request […], and the
    /// presented request"; "a member "*" always fails to match"; absent matches only absent.
    static func matches(_ names: [String], _ original: ModelRequest, _ presented: ModelRequest) -> Bool {
        !names.contains("*") && names.allSatisfy { value($0, in: original) == value($0, in: presented) }
    }

    /// The selected response: "the most recent response (as determined by the Date header field)"; of equal ones, the one received last.
    static func select(among stored: [ModelStored], for request: ModelRequest) -> Int? {
        let matching = newestFirst(stored).filter { matches(stored[$0].variesBy, stored[$0].request, request) }
        // §4.1: "When a cache has multiple stored responses for a target URI and one or more omits the Vary header field, the cache
        // SHOULD choose the most recent […] stored response with a valid Vary field value."
        return matching.first { stored[$0].response.fields.has("vary") } ?? matching.first
    }

    private static func newestFirst(_ stored: [ModelStored]) -> [Int] {
        stored.indices.sorted { left, right in
            if stored[left].dateValue != stored[right].dateValue { return stored[left].dateValue > stored[right].dateValue }
            if stored[left].responseTime != stored[right].responseTime {
                return stored[left].responseTime > stored[right].responseTime
            }
            return left > right
        }
    }
}
