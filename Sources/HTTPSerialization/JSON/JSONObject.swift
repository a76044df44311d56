/// The members of a JSON object in the order in which they stand in the text (RFC 8259 §4).
///
/// Names may stand twice, as they may in a text: all are kept and written again, and who asks by name is given the last,
/// as most readers do. Who must not meet them refuses them when reading (`JSONParseOptions.refusesRepeatedNames`).
public struct JSONObject: Hashable, Sendable {
    /// One name with its value.
    public struct Member: Hashable, Sendable {
        /// As it is after escapes are read.
        public var name: String
        /// What the name stands for.
        public var value: JSONValue

        /// A member.
        public init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// In order.
    public var members: [Member]

    /// Members in their order.
    public init(_ members: [Member] = []) { self.members = members }

    /// Members in their order.
    public init(_ members: [(String, JSONValue)]) { self.members = members.map { Member(name: $0.0, value: $0.1) } }

    /// Whether there is no member.
    public var isEmpty: Bool { members.isEmpty }
    /// How many members there are, each of a name that stands twice counted.
    public var count: Int { members.count }

    /// The value of the last member with this name, found by going through all of them.
    ///
    /// Setting one replaces the value of that member in its place, or adds a member at the end; setting `nil` removes every member
    /// of the name.
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
    /// An object, its members in the order of the literal.
    public init(dictionaryLiteral members: (String, JSONValue)...) { self.init(members) }
}
