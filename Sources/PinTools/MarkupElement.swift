/// An element of a small XML document without custom entities: enough for configuration files.
struct MarkupElement {
    let name: String
    private(set) var attributes: [String: String] = [:]
    private(set) var children: [MarkupElement] = []
    /// The element's own text, without surrounding blanks and without the text of its children.
    private(set) var text = ""

    static let depthLimit = 64

    /// - Returns: `nil` if the document is not well-formed, or contains a document type or CDATA.
    init?(_ document: String) {
        var scanner = Scanner(rest: document[...])
        guard scanner.skipMisc(), let root = scanner.element(depth: 0), scanner.skipMisc(), scanner.rest.isEmpty else {
            return nil
        }
        self = root
    }

    private init(name: String) { self.name = name }

    private struct Scanner {
        var rest: Substring

        mutating func skip(_ prefix: String) -> Bool {
            guard rest.hasPrefix(prefix) else { return false }
            rest = rest.dropFirst(prefix.count)
            return true
        }

        mutating func skipBlanks() { rest = rest.drop(while: \.isWhitespace) }

        mutating func upTo(_ end: String) -> Substring? {
            guard let range = rest.firstRange(of: end) else { return nil }
            defer { rest = rest[range.upperBound...] }
            return rest[..<range.lowerBound]
        }

        /// Skips blanks, comments and the declaration.
        mutating func skipMisc() -> Bool {
            while true {
                skipBlanks()
                if skip("<!--") {
                    guard upTo("-->") != nil else { return false }
                } else if skip("<?") {
                    guard upTo("?>") != nil else { return false }
                } else {
                    return true
                }
            }
        }

        mutating func word() -> String {
            let word = rest.prefix { $0.isLetter || $0.isNumber || "-_:.".contains($0) }
            rest = rest.dropFirst(word.count)
            return String(word)
        }

        mutating func element(depth: Int) -> MarkupElement? {
            guard depth < MarkupElement.depthLimit, skip("<") else { return nil }
            var element = MarkupElement(name: word())
            guard !element.name.isEmpty else { return nil }
            while true {
                skipBlanks()
                if skip("/>") { return element }
                if skip(">") { break }
                let key = word()
                skipBlanks()
                guard !key.isEmpty, element.attributes[key] == nil, skip("=") else { return nil }
                skipBlanks()
                let quote = skip("\"") ? "\"" : skip("'") ? "'" : nil
                guard let quote, let value = upTo(quote), !value.contains("<") else { return nil }
                element.attributes[key] = String(value)
            }
            return content(of: element, depth: depth)
        }

        private mutating func content(of opened: MarkupElement, depth: Int) -> MarkupElement? {
            var element = opened
            while true {
                let text = rest.prefix { $0 != "<" }
                rest = rest.dropFirst(text.count)
                element.text += text
                if skip("<!--") {
                    guard upTo("-->") != nil else { return nil }
                } else if skip("</") {
                    guard word() == element.name else { return nil }
                    skipBlanks()
                    let first = element.text.drop(while: \.isWhitespace)
                    element.text = String(first.reversed().drop(while: \.isWhitespace).reversed())
                    return skip(">") ? element : nil
                } else {
                    guard let child = self.element(depth: depth + 1) else { return nil }
                    element.children.append(child)
                }
            }
        }
    }
}
