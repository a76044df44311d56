import HTTPMessage

/// The rules and trailer fields. Trailer fields arrive after the rules have been evaluated, and an origin may merge them into the
/// fields of the head (RFC 9110 §6.5.1).
extension PolicyRuleSet {
    /// Whether a rule for the request's host, or for any host, matches on this field or edits it. Such a rule looks only at the head,
    /// so the field must not arrive as a trailer field.
    package func looksAt(field name: Span<UInt8>, of request: RequestHead) -> Bool {
        guard looksAtFields else { return false }
        var isFound = false
        forEachRule(concerning: request) { rule in
            if !isFound, rule.looksAt(field: name) { isFound = true }
        }
        return isFound
    }
}

extension PolicyRule {
    var looksAtFields: Bool { condition.looksAtFields || !request.edits.isEmpty }

    fileprivate func looksAt(field name: Span<UInt8>) -> Bool {
        if condition.looksAt(field: name) { return true }
        for edit in request.edits where edit.name.mayBeRead(from: name) { return true }
        return false
    }
}

extension RuleCondition {
    fileprivate var looksAtFields: Bool { !fields.isEmpty || exclusions.contains { !$0.fields.isEmpty } }

    fileprivate func looksAt(field name: Span<UInt8>) -> Bool {
        for field in fields where field.name.mayBeRead(from: name) { return true }
        for exclusion in exclusions where exclusion.looksAt(field: name) { return true }
        return false
    }
}
