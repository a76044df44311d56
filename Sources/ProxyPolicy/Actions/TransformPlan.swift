import HTTPCaching
import HTTPMessage

/// How to transform response content, merged from all rules that match a request. Immutable, so that each rule's plan is made once, when
/// the rule is read.
package final class TransformPlan: Sendable {
    /// How Larder parses a response's content, according to the content's media type.
    package enum Source: UInt8, Sendable { case json, xml, propertyList, text }

    /// The last matching rule that has a `transform` section.
    package let ruleName: String
    package let words: TransformWords
    /// Identifies the transformation: plans with different results have different fingerprints. Limits are not part of the fingerprint.
    package let fingerprint: UInt64

    package init(_ words: TransformWords, ruleName: String) {
        self.words = words
        self.ruleName = ruleName
        fingerprint = RulesDigest.make(of: Self.texts(of: words)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// This plan, with the values of a later rule taking precedence.
    func merged(with later: TransformPlan) -> TransformPlan {
        var words = words
        words.merge(later.words)
        return TransformPlan(words, ruleName: later.ruleName)
    }

    package var onError: TransformWords.OnError { words.onError ?? .fail }
    package var maximumBodyLength: UInt64 { words.maximumBodyLength ?? 8 << 20 }
    /// The maximum length of the result, in bytes. Default: twice `maximumBodyLength`.
    package var maximumOutputLength: UInt64 { words.maximumOutputLength ?? 2 * maximumBodyLength }
    package var maximumDepth: Int { Int(words.maximumDepth ?? 512) }
    /// The maximum time in milliseconds, counted from the moment when the body is complete.
    package var timeout: Int64 { words.timeout ?? 10_000 }

    /// Whether nothing is transformed, for example because a later rule cancels an earlier one.
    package var isEmpty: Bool { !makesJSON && words.charset == nil }

    private var makesJSON: Bool { words.readsPropertyLists == true || words.readsXML == true || editsJSON }

    private var editsJSON: Bool {
        (words.nulls ?? .keep) != .keep || words.removals?.isEmpty == false || words.settings?.isEmpty == false
    }

    // MARK: Content types

    /// How Larder parses content of this media type; `nil` leaves the content unchanged. A response with no Content-Type, or with two,
    /// is left unchanged.
    ///
    /// Media types that a rule lists replace the built-in list. A listed type that is not in the built-in list is parsed as the first
    /// format that the rules ask for.
    package func source(for fields: borrowing Fields) -> Source? {
        guard fields.lineCount(of: .contentType) == 1, let line = fields.first(.contentType) else { return nil }
        let type = fields.value(of: line)
        if let given = words.contentTypes {
            var isGiven = false
            for pattern in given where pattern.matches(type) { isGiven = true }
            if !isGiven { return nil }
        }
        if words.readsPropertyLists == true, Self.isOne(of: Self.propertyLists, type) { return .propertyList }
        if words.readsXML == true, Self.isOne(of: Self.xml, type) { return .xml }
        if editsJSON, Self.isOne(of: Self.json, type) { return .json }
        if words.charset != nil, Self.isOne(of: Self.texts, type) { return .text }
        return words.contentTypes == nil ? nil : first
    }

    private var first: Source {
        if words.readsPropertyLists == true { return .propertyList }
        if words.readsXML == true { return .xml }
        return editsJSON ? .json : .text
    }

    private static func isOne(of patterns: [MediaTypePattern], _ type: Span<UInt8>) -> Bool {
        for pattern in patterns where pattern.matches(type) { return true }
        return false
    }

    private static let json = ["application/json", "text/json", "*/*+json"].compactMap { MediaTypePattern($0) }
    private static let propertyLists = ["application/x-plist"].compactMap { MediaTypePattern($0) }
    private static let xml = ["application/xml", "text/xml", "*/*+xml"].compactMap { MediaTypePattern($0) }
    private static let texts = ["text/*"].compactMap { MediaTypePattern($0) }

    // MARK: The fingerprint

    /// Raise this number when a new version of Larder transforms the same body differently under the same settings.
    private static let version: StaticString = "1"

    /// All settings that determine the result of the transformation. Different settings always give different lists.
    private static func texts(of words: TransformWords) -> [[UInt8]] {
        var texts: [[UInt8]] = []
        func add(_ text: String) { texts.append(Array(text.utf8)) }
        add("\(version)")
        add(words.readsPropertyLists == true ? "plist" : "")
        add(words.readsXML == true ? "xml" : "")
        add("\((words.nulls ?? .keep).rawValue)")
        add("\(words.removals?.count ?? 0)")
        for place in words.removals ?? [] { add(place) }
        add("\(words.settings?.count ?? 0)")
        for setting in words.settings ?? [] {
            add(setting.place)
            texts.append(setting.json)
        }
        add(words.charset?.to.text ?? "")
        add(words.charset?.from?.text ?? "")
        return texts
    }
}
