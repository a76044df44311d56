/// Selecting a stored response by Vary (RFC 9111 §4.1).
enum ModelVary {
    static func nominated(_ response: ModelResponse) -> [String] {
        response.fields.values("vary").flatMap { ModelText.members($0) }.map { $0.lowercased() }
    }

    /// "adding or removing whitespace, where allowed in the header field's syntax": of a field that nobody knows, around it alone;
    /// "combining multiple header field lines with the same field name". Nothing else is made equal.
    static func value(_ name: String, in request: ModelRequest) -> String? {
        let values = request.fields.values(name)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }

    /// "all the selecting header fields nominated by the Vary header field match in both the original request […], and the
    /// presented request"; "a member "*" always fails to match"; absent matches only absent.
    static func matches(_ names: [String], _ original: ModelRequest, _ presented: ModelRequest) -> Bool {
        !names.contains("*") && names.allSatisfy { value($0, in: original) == value($0, in: presented) }
    }

    /// The selected response: "the most recent response (as determined by the Date header field)"; of equal ones the one that came
    /// last.
    static func select(among stored: [ModelStored], for request: ModelRequest, _ choices: inout ModelChoices) -> Int? {
        // "When a cache has multiple responses for a target URI and one or more omits the Vary header field, it SHOULD use the
        // most recent […] valid Vary field value available to select an appropriate response for the request."
        let newest = newestFirst(stored)
        let inherited = inheritedVary(among: stored)
        let selected = newest.first { index in
            let response = stored[index].response
            let names = response.fields.has("vary") ? nominated(response) : inherited
            return matches(names, stored[index].request, request)
        }
        let asStored = newest.first { matches(stored[$0].variesBy, stored[$0].request, request) }
        if selected != asStored, choices.may(.takesVaryAsItWasWhenStored) { return asStored }
        return selected
    }

    /// What the most recent of those that have Vary nominates.
    static func inheritedVary(among stored: [ModelStored]) -> [String] {
        let newest = newestFirst(stored).first { stored[$0].response.fields.has("vary") }
        return newest.map { nominated(stored[$0].response) } ?? []
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
