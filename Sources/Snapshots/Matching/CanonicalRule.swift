import HTTPCaching
import HTTPMessage
import SecretScanning

/// A canonicaliser with its patterns compiled.
struct CanonicalRule: Sendable {
    let canonicaliser: Canonicaliser
    private let rewriting: KeyRewriting?
    private let replacements: [(place: Canonicaliser.Replacement.Place, pattern: LinearPattern, text: [UInt8])]
    let formNames: [KeyRewriting.ParameterPattern]

    init(_ canonicaliser: Canonicaliser) throws(SnapshotError) {
        self.canonicaliser = canonicaliser
        var rewriting = KeyRewriting()
        rewriting.dropped = try Self.parameters(canonicaliser.ignoredParameters)
        rewriting.sortsQuery = canonicaliser.sortsQuery
        self.rewriting = canonicaliser.ignoredParameters.isEmpty && !canonicaliser.sortsQuery ? nil : rewriting
        formNames = try Self.parameters(canonicaliser.ignoredFormFields)
        var replacements: [(place: Canonicaliser.Replacement.Place, pattern: LinearPattern, text: [UInt8])] = []
        for replacement in canonicaliser.replacements {
            let pattern = try onSecretScanning { () throws(SecretScanningError) in try LinearPattern(replacement.pattern) }
            replacements.append((replacement.place, pattern, Array(replacement.text.utf8)))
        }
        self.replacements = replacements
    }

    private static func parameters(_ names: [String]) throws(SnapshotError) -> [KeyRewriting.ParameterPattern] {
        var patterns: [KeyRewriting.ParameterPattern] = []
        for name in names {
            guard let pattern = KeyRewriting.ParameterPattern(name) else { throw .malformed("\(name) is not a parameter name") }
            patterns.append(pattern)
        }
        return patterns
    }

    func concerns(method: [UInt8], uri: [UInt8]) -> Bool {
        if let wanted = canonicaliser.method, Array(wanted.utf8) != method { return false }
        if canonicaliser.uri == "*" { return true }
        let pattern = Array(canonicaliser.uri.utf8)
        return Glob.matches(pattern.span, uri.span)
    }

    /// The URI without ignored parts; a URI that cannot be parsed stays unchanged.
    func canonicalURI(_ uri: [UInt8]) -> [UInt8] {
        var uri = uri
        if let rewriting, let head = RequestHead(uri: uri.span, method: .get) {
            CacheKey.write(head, rewriting, into: &uri)
        }
        return canonicalText(uri, .uri)
    }

    /// Applies the rule's replacements, and replaces UUIDs and times by marks if the rule says so.
    func canonicalText(_ text: [UInt8], _ place: Canonicaliser.Replacement.Place) -> [UInt8] {
        var text = text
        for replacement in replacements where replacement.place == place {
            text = replacement.pattern.replacingAll(in: text, by: replacement.text)
        }
        guard canonicaliser.hasUUIDs || canonicaliser.hasTimes else { return text }
        return VolatileText.marked(text, uuids: canonicaliser.hasUUIDs, times: canonicaliser.hasTimes)
    }

    /// Whether the rule needs the request's body.
    var changesBodies: Bool {
        !formNames.isEmpty || !canonicaliser.ignoredPointers.isEmpty || canonicaliser.hasUUIDs || canonicaliser.hasTimes
            || replacements.contains { $0.place == .body }
    }
}
