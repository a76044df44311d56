import HTTPMessage

/// The field lines of a message, in order (RFC 9110 §5). Names compare without regard to case.
///
/// Names and values are not checked here. If one is invalid, sending the request fails before anything is sent.
public struct SessionFields: Sendable {
    var fields: Fields

    /// Creates a list without field lines.
    public init() { fields = Fields() }
    init(_ fields: Fields) { self.fields = fields }

    /// Whether there are no field lines.
    public var isEmpty: Bool { fields.isEmpty }
    /// How many lines there are.
    public var count: Int { fields.count }

    /// All values of a field, joined by a comma (RFC 9110 §5.3). Setting a value replaces all lines of the field; setting `nil`
    /// removes them. Bytes that are not UTF-8 are replaced.
    public subscript(name: String) -> String? {
        get {
            let values = values(of: name)
            return values.isEmpty ? nil : values.joined(separator: ", ")
        }
        set {
            remove(name)
            if let newValue { append(name, newValue) }
        }
    }

    /// The value of each line with this name.
    public func values(of name: String) -> [String] {
        let name = Array(name.utf8)
        var values: [String] = []
        for line in fields.lines where fields.name(of: line).equalsIgnoringCase(name.span) {
            values.append(fields.text(of: line.value))
        }
        return values
    }

    /// The bytes of the first line with this name, as received.
    public func octets(of name: String) -> [UInt8]? {
        let name = Array(name.utf8)
        guard let index = fields.index(ofName: name.span) else { return nil }
        return Array(fields.bytes[fields.lines[index].value.range])
    }

    /// Whether there is a line with this name.
    public func contains(_ name: String) -> Bool {
        let name = Array(name.utf8)
        return fields.index(ofName: name.span) != nil
    }

    /// Appends a line.
    public mutating func append(_ name: String, _ value: String) { fields.append(name: name, value: value) }

    /// Removes all lines with this name.
    public mutating func remove(_ name: String) {
        let name = Array(name.utf8)
        fields.remove { fields, line in fields.name(of: line).equalsIgnoringCase(name.span) }
    }

    /// Adds the fields of `other`. Each replaces the existing fields with the same name.
    public mutating func override(with other: SessionFields) {
        if other.isEmpty { return }
        if isEmpty {
            self = other
            return
        }
        for (name, _) in other { remove(name) }
        for (name, value) in other { append(name, value) }
    }

    func combinedValue(of field: KnownField) -> String? { fields.combinedValue(of: field) }
    func contains(_ field: KnownField) -> Bool { fields.contains(field) }
    mutating func remove(_ field: KnownField) { fields.remove(field) }
}

extension SessionFields: Sequence {
    /// Name and value of each line, as received.
    public func makeIterator() -> AnyIterator<(name: String, value: String)> {
        var lines = fields.lines.makeIterator()
        return AnyIterator { [fields] in
            lines.next().map { (fields.text(of: $0.name), fields.text(of: $0.value)) }
        }
    }
}

extension SessionFields: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init()
        for (name, value) in elements { append(name, value) }
    }
}

extension SessionFields: Equatable {
    public static func == (left: SessionFields, right: SessionFields) -> Bool {
        left.count == right.count
            && zip(left, right).allSatisfy { $0.name.lowercased() == $1.name.lowercased() && $0.value == $1.value }
    }
}

extension SessionFields: CustomStringConvertible {
    /// The field names only, because values may be secrets.
    public var description: String { map(\.name).joined(separator: ", ") }
}
