import HTTPMessage
import HTTPSerialization

/// Reads the members of a JSON object with a fixed set of names. If a member has another type or an unknown name, the error names the
/// member.
struct JSONMembers {
    private let object: JSONObject
    private let name: String

    /// - Throws: `malformed` if the value is not an object or has an unknown member.
    init(_ value: JSONValue, of name: String, known: [String]) throws(SnapshotError) {
        guard let object = value.object else { throw .malformed("\(name) is not an object") }
        for member in object.members where !known.contains(member.name) {
            throw .malformed("\(name) has the unknown member \(member.name)")
        }
        self.object = object
        self.name = name
    }

    func object(_ member: String, known: [String]) throws(SnapshotError) -> JSONMembers {
        try JSONMembers(object[member] ?? .object([:]), of: "\(name).\(member)", known: known)
    }

    func array(_ member: String) throws(SnapshotError) -> [JSONValue] {
        guard let value = object[member] else { return [] }
        guard let array = value.array else { throw .malformed("\(name).\(member) is not an array") }
        return array
    }

    func strings(_ member: String) throws(SnapshotError) -> [String] {
        var strings: [String] = []
        for value in try array(member) {
            guard let string = value.string else { throw .malformed("\(name).\(member) contains a value that is not a string") }
            strings.append(string)
        }
        return strings
    }

    func string(_ member: String) throws(SnapshotError) -> String? {
        guard let value = object[member] else { return nil }
        guard let string = value.string else { throw .malformed("\(name).\(member) is not a string") }
        return string
    }

    func bool(_ member: String) throws(SnapshotError) -> Bool {
        guard let value = object[member] else { return false }
        guard let bool = value.bool else { throw .malformed("\(name).\(member) is neither true nor false") }
        return bool
    }

    func int(_ member: String) throws(SnapshotError) -> Int {
        guard let int = object[member]?.int else { throw .malformed("\(name).\(member) is not a whole number") }
        return int
    }

    /// A digest in hexadecimal.
    func digest(_ member: String) throws(SnapshotError) -> [UInt8] {
        guard let text = try string(member), let octets = Hexadecimal.decode(text), octets.count == 32 else {
            throw .malformed("\(name).\(member) is not a digest")
        }
        return octets
    }
}
