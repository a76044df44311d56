import HTTPMessage

extension StructuredSecrets {
    /// Reads contents of elements and values of attributes, in XML and in HTML. Also reads the attributes `value` and `content` next to a
    /// `name` that indicates a secret, and scripts.
    mutating func searchXML() {
        var open = OpenElements()
        // Comments are searched too, but an element that begins in a comment ends there.
        var comment = 0
        var script = 0
        var place = 0
        while let opening = octets[place...].firstIndex(of: UInt8(ascii: "<")) {
            open.noteText(place..<opening, in: octets)
            if comment > 0, opening >= comment {
                open = OpenElements()
                comment = 0
            }
            place = opening + 1
            if octets.holds(Self.commentOpening, at: opening) {
                // The end of this comment is known already.
                if open.isEmpty, comment > 0 { continue }
                let end = markup.end(of: .comment, in: octets, from: opening + 4)
                if open.isEmpty { comment = end ?? 0 } else { place = end ?? place }
            } else if octets.holds(Self.sectionOpening, at: opening) {
                if open.isEmpty { continue }
                let content = opening + Self.sectionOpening.count
                // An unterminated section extends to the end of the text.
                let end = markup.end(of: .section, in: octets, from: content)
                open.noteSection(content..<(end.map { $0 - 3 } ?? octets.count), outer: opening..<(end ?? octets.count))
                place = end ?? octets.count
            } else if octets.holds([UInt8(ascii: "?")], at: place) {
                if !open.isEmpty { place = markup.end(of: .instruction, in: octets, from: place) ?? place }
            } else if octets.holds([ASCII.slash], at: place) {
                let name = nameOfTag(from: place + 1)
                for closed in open.close(name) { noteContent(closed, before: opening) }
                place = octets.end(from: place + 1 + name.count, limit: 1 << 10) { !"<>".utf8.contains($0) }
                if octets.holds([UInt8(ascii: ">")], at: place) { place += 1 }
            } else {
                let name = nameOfTag(from: place)
                guard !name.isEmpty, octets[place] != UInt8(ascii: "!") else { continue }
                let (close, isEmpty) = searchAttributes(from: place + name.count)
                place = close
                if name.map(ASCII.lowercased) == Self.script, place >= script {
                    script = markup.end(of: .script, in: octets, from: place) ?? octets.count
                    searchLiterals(place..<script, .generated)
                }
                let isChildless = isEmpty || !open.isEmpty && OpenElements.isVoid(name)
                open.begin(name, isChildless ? nil : evidence(name, .xml), isChildless: isChildless, contentFrom: place)
            }
        }
        open.noteText(place..<octets.count, in: octets)
        for rest in open.closeAll() { noteContent(rest, before: octets.count) }
    }

    private static let commentOpening = Array("<!--".utf8)
    private static let sectionOpening = Array("<![CDATA[".utf8)
    private static let script = Array("script".utf8)

    private func nameOfTag(from start: Int) -> [UInt8] {
        let end = octets.end(from: start, limit: 256) { !isXMLBlank($0) && $0 != UInt8(ascii: ">") && $0 != ASCII.slash }
        return Array(octets[start..<end])
    }

    /// - Returns: the position after `>`, and whether the tag also closes the element.
    private mutating func searchAttributes(from start: Int) -> (end: Int, isEmpty: Bool) {
        var place = start
        var named: SecretNames.Evidence?
        var values: [Range<Int>] = []
        while true {
            place = octets.end(from: place, limit: .max) { isXMLBlank($0) || $0 == ASCII.slash }
            guard place < octets.count, octets[place] != UInt8(ascii: ">"), octets[place] != UInt8(ascii: "<") else { break }
            let name = place..<octets.end(from: place, limit: .max) { !isXMLBlank($0) && !"=><".utf8.contains($0) }
            place = octets.end(from: name.upperBound, limit: 64, while: isXMLBlank)
            guard place < octets.count, octets[place] == ASCII.equals else {
                if place == name.lowerBound { place += 1 }
                continue
            }
            place = octets.end(from: place + 1, limit: 64, while: isXMLBlank)
            guard place < octets.count, octets[place] == ASCII.quote || octets[place] == UInt8(ascii: "'") else { continue }
            let quote = octets[place]
            let value = place + 1..<octets.end(from: place + 1, limit: SecretScan.tokenLengthLimit) { $0 != quote }
            place = min(value.upperBound + 1, octets.count)
            switch String(decoding: SecretNames.normalised(octets[name]), as: UTF8.self) {
            case "name", "id", "key": named = named ?? evidence(Array(octets[value]), .xml)
            case "value", "content": values.append(value)
            default:
                if let evidence = evidence(Array(octets[name]), .xml) { noteXML(value, evidence) }
            }
        }
        if let named { for value in values { noteXML(value, named) } }
        let isEmpty = place > start && octets[place - 1] == ASCII.slash
        // A `<` begins the next tag.
        let isClosed = place < octets.count && octets[place] == UInt8(ascii: ">")
        return (isClosed ? place + 1 : min(place, octets.count), isEmpty)
    }

    /// Notes the text of an element, which may be split by comments, instructions and CDATA sections. If the element also has children,
    /// its content is replaced as a whole. An element that has only children has no value: the names of the children decide.
    private mutating func noteContent(_ element: OpenElements.Element, before end: Int) {
        guard let first = element.first else { return }
        if !element.hasChildren {
            guard element.count > 1 else { return noteXML(first.inner, element.evidence, isSection: first.isSection) }
            let range = first.outer.lowerBound..<element.last
            return note(range, element.evidence, value: text(in: range))
        }
        // Without its end tag, the element's end is unknown.
        guard element.isClosedByName, end - element.start <= SecretScan.tokenLengthLimit else {
            return noteXML(first.inner, element.evidence, isSection: first.isSection)
        }
        var range = element.start..<end
        while !range.isEmpty, isXMLBlank(octets[range.lowerBound]) { range = range.lowerBound + 1..<range.upperBound }
        while !range.isEmpty, isXMLBlank(octets[range.upperBound - 1]) { range = range.lowerBound..<range.upperBound - 1 }
        note(range, element.evidence, value: text(in: range))
    }

    /// The text of a part of an element: without tags, comments and instructions.
    private mutating func text(in range: Range<Int>) -> [UInt8] {
        var text: [UInt8] = []
        var place = range.lowerBound
        while place < range.upperBound {
            let opening = octets[place..<range.upperBound].firstIndex(of: UInt8(ascii: "<")) ?? range.upperBound
            text += EscapedText.withoutEntities(octets[place..<opening])
            guard opening < range.upperBound else { break }
            if octets.holds(Self.sectionOpening, at: opening) {
                let content = opening + Self.sectionOpening.count
                let end = markup.end(of: .section, in: octets, from: content)
                text += octets[content..<min(end.map { $0 - 3 } ?? octets.count, octets.count)]
                place = end ?? octets.count
            } else if octets.holds(Self.commentOpening, at: opening) {
                place = markup.end(of: .comment, in: octets, from: opening + 4) ?? range.upperBound
            } else {
                place = octets[opening..<range.upperBound].firstIndex(of: UInt8(ascii: ">")).map { $0 + 1 } ?? range.upperBound
            }
        }
        return text
    }

    private mutating func noteXML(_ range: Range<Int>, _ evidence: SecretNames.Evidence, isSection: Bool = false) {
        note(range, evidence, value: isSection ? nil : EscapedText.withoutEntities(octets[range]))
    }

    private func isXMLBlank(_ octet: UInt8) -> Bool { OpenElements.isBlank(octet) }
}

/// Finds the ends of comments, CDATA sections, instructions and scripts. If one of them has no end, later ones have none either,
/// so the end is not searched for again.
struct MarkupEnds {
    enum Construct: Int, CaseIterable {
        case comment, section, instruction, script
    }

    private static let closings = ["-->", "]]>", "?>", "</script"].map { Array($0.utf8) }
    private var endless = Set<Construct>()
    /// The number of bytes that were compared, for tests.
    private(set) var work = 0

    /// - Returns: the position after the end, or before the end tag of a script; `nil` if the end is missing.
    mutating func end(of construct: Construct, in octets: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        if endless.contains(construct) { return nil }
        let closing = Self.closings[construct.rawValue]
        var place = start
        while place + closing.count <= octets.count {
            work += 1
            if octets[place] == closing[0], octets.holds(closing, ignoringCaseAt: place) {
                return construct == .script ? place : place + closing.count
            }
            place += 1
        }
        endless.insert(construct)
        return nil
    }
}

/// The elements around a position whose names indicate secrets, outermost first.
struct OpenElements {
    /// The maximum number of elements. The outermost is dropped for one more.
    static let limit = 16

    struct Text {
        let inner: Range<Int>
        /// The text with the marks of its CDATA section.
        let outer: Range<Int>
        let isSection: Bool
    }

    struct Element {
        let name: [UInt8]
        let evidence: SecretNames.Evidence
        /// The position after the start tag.
        let start: Int
        /// The number of open elements within, whose names do not indicate secrets.
        var depth = 0
        var hasChildren = false
        /// The element's own text: its first part, the number of parts, and the end of the last one.
        var first: Text?
        var count = 0
        var last = 0
        var isClosedByName = false
    }

    private var elements: [Element] = []

    var isEmpty: Bool { elements.isEmpty }

    /// Elements of HTML that have no end tag (HTML §13.1.2).
    private static let voids: Set<String> = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    ]

    static func isVoid(_ name: [UInt8]) -> Bool {
        name.count <= 6 && voids.contains(String(decoding: name.map(ASCII.lowercased), as: UTF8.self))
    }

    static func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || octet == 0x09 || octet == 0x0A || octet == 0x0D }

    mutating func begin(_ name: [UInt8], _ evidence: SecretNames.Evidence?, isChildless: Bool, contentFrom start: Int) {
        if !elements.isEmpty {
            elements[elements.count - 1].hasChildren = true
            if evidence == nil, !isChildless { elements[elements.count - 1].depth += 1 }
        }
        guard let evidence else { return }
        if elements.count == Self.limit { elements.removeFirst() }
        elements.append(Element(name: name, evidence: evidence, start: start))
    }

    mutating func noteText(_ range: Range<Int>, in octets: UnsafeBufferPointer<UInt8>) {
        guard !elements.isEmpty else { return }
        var range = range
        while !range.isEmpty, Self.isBlank(octets[range.lowerBound]) { range = range.lowerBound + 1..<range.upperBound }
        while !range.isEmpty, Self.isBlank(octets[range.upperBound - 1]) { range = range.lowerBound..<range.upperBound - 1 }
        if !range.isEmpty { note(Text(inner: range, outer: range, isSection: false)) }
    }

    mutating func noteSection(_ inner: Range<Int>, outer: Range<Int>) {
        guard !inner.isEmpty else { return }
        note(Text(inner: inner, outer: outer, isSection: true))
    }

    private mutating func note(_ text: Text) {
        let last = elements.count - 1
        guard last >= 0, elements[last].depth == 0 else { return }
        if elements[last].first == nil { elements[last].first = text }
        elements[last].count += 1
        elements[last].last = text.outer.upperBound
    }

    /// - Returns: the elements that an end tag closes, innermost first. An end tag of another name closes the innermost element if it is
    ///   not the end of an element within.
    mutating func close(_ name: [UInt8]) -> [Element] {
        guard !elements.isEmpty else { return [] }
        if let index = elements.lastIndex(where: { $0.name == name }) {
            elements[index].isClosedByName = true
            defer { elements.removeSubrange(index...) }
            return elements[index...].reversed()
        }
        guard elements[elements.count - 1].depth > 0 else { return [elements.removeLast()] }
        elements[elements.count - 1].depth -= 1
        return []
    }

    mutating func closeAll() -> [Element] {
        defer { elements = [] }
        return elements.reversed()
    }
}
