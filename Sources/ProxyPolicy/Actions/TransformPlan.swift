import HTTPCaching
import HTTPMessage

/// What is made of the content of responses, by all rules that match a request. Immutable, so that one rule's is made when it is read.
package final class TransformPlan: Sendable {
    /// What a response's content is taken for, by its media type.
    package enum Source: UInt8, Sendable { case json, xml, propertyList, text }

    /// The last rule that says anything of it.
    package let ruleName: String
    package let words: TransformWords
    /// Tells what is made by these words from what is made by others. Limits do not count.
    package let fingerprint: UInt64

    package init(_ words: TransformWords, ruleName: String) {
        self.words = words
        self.ruleName = ruleName
        fingerprint = RulesDigest.make(of: Self.texts(of: words)).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// With what a later rule says.
    func merged(with later: TransformPlan) -> TransformPlan {
        var words = words
        words.merge(later.words)
        return TransformPlan(words, ruleName: later.ruleName)
    }

    package var onError: TransformWords.OnError { words.onError ?? .fail }
    package var maximumBodyLength: UInt64 { words.maximumBodyLength ?? 8 << 20 }
    /// Twice the body's, unless it is said.
    package var maximumOutputLength: UInt64 { words.maximumOutputLength ?? 2 * maximumBodyLength }
    package var maximumDepth: Int { Int(words.maximumDepth ?? 512) }
    /// In milliseconds, from when the body is there.
    package var timeout: Int64 { words.timeout ?? 10_000 }

    /// Nothing is wanted after all: a later rule has taken it back.
    package var isEmpty: Bool { !makesJSON && words.charset == nil }

    private var makesJSON: Bool { words.readsPropertyLists == true || words.readsXML == true || editsJSON }

    private var editsJSON: Bool {
        (words.nulls ?? .keep) != .keep || words.removals?.isEmpty == false || words.settings?.isEmpty == false
    }

    // MARK: What it is for

    /// What content of this type is taken for; `nil` where it stays as it is. A response without a type, or with two, stays.
    ///
    /// Where a rule gives types, they take the place of those below; what is none of these either is read as what the rule reads first.
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

    /// Goes up when the same words make something else of the same body.
    private static let version: StaticString = "1"

    /// All that decides what is made, so that no two meanings have the same texts.
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
