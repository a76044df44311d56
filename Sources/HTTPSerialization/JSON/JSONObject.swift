/// The members of a JSON object, in the order of the text (RFC 8259 §4).
///
/// Names may be repeated, as the RFC allows. All members are kept and written again, and a lookup by name returns the last one, as
/// most parsers do. `JSONParseOptions.refusesRepeatedNames` makes the parser reject repeated names.
public struct JSONObject: Hashable, Sendable {
    /// One name with its value.
    public struct Member: Hashable, Sendable {
        /// The name, with its escapes decoded.
        public var name: String
        /// The value of the member.
        public var value: JSONValue

        /// A member with this name and value.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// The members in order.
    public var members: [Member]

    /// An object with members in this order.
    public init(_ members: [Member] = []) { self.members = members }

    /// An object with members in this order.
    public init(_ members: [(String, JSONValue)]) { self.members = members.map { Member(name: $0.0, value: $0.1) } }

    /// Whether there is no member.
    public var isEmpty: Bool { members.isEmpty }
    /// How many members there are, including all members with a repeated name.
    public var count: Int { members.count }

    /// The value of the last member with this name; a linear search.
    ///
    /// Setting a value replaces that member's value, or appends a member. Setting `nil` removes every member with the name.
    public subscript(name: String) -> JSONValue? {
        get { members.last { $0.name == name }?.value }
        set {
            guard let newValue else {
                members.removeAll { $0.name == name }
                return
            }
            if let place = members.lastIndex(where: { $0.name == name }) {
                members[place].value = newValue
            } else {
                members.append(Member(name: name, value: newValue))
            }
        }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object with members in the order of the literal.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }
}
