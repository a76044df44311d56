import HTTPMessage

extension PropertyListValue {
    /// The value as JSON: dates as `2026-11-23T03:07:55Z`, data in base64, an archive's references as `{"CF$UID": 1}`, and
    /// infinite or NaN reals as null.
    public var json: JSONValue {
        switch self {
        case .string(let string): .string(string)
        case .integer(let integer): .number(JSONNumber(integer))
        case .real(let real): JSONNumber(real).map(JSONValue.number) ?? .null
        case .bool(let bool): .bool(bool)
        case .date(let date): .string(date.description)
        case .data(let data): .string(Base64.encode(data))
        case .array(let elements): .array(elements.map(\.json))
        case .dictionary(let dictionary): .object(JSONObject(dictionary.members.map { ($0.key, $0.value.json) }))
        case .uid(let number): .object(JSONObject([("CF$UID", .number(JSONNumber(number)))]))
        }
    }

    /// A JSON value as a property list: integers as integers, other numbers as reals.
    /// - Throws: `inexpressible` for null, which property lists do not support, and for a number beyond all finite reals.
    public init(_ json: JSONValue) throws(PropertyListFault) {
        switch json {
        case .null: throw PropertyListFault(.inexpressible, "null")
        case .bool(let bool): self = .bool(bool)
        case .string(let string): self = .string(string)
        case .number(let number):
            if let integer = Int128(exactly: number), integer >= Int128(Int64.min), integer <= Int128(UInt64.max) {
                self = .integer(integer)
            } else if let real = Double(number) {
                self = .real(real)
            } else {
                throw PropertyListFault(.inexpressible, number.text)
            }
        case .array(let elements):
            var values: [PropertyListValue] = []
            for element in elements { values.append(try PropertyListValue(element)) }
            self = .array(values)
        case .object(let object):
            var members: [(String, PropertyListValue)] = []
            for member in object.members { members.append((member.name, try PropertyListValue(member.value))) }
            self = .dictionary(PropertyListDictionary(members))
        }
    }
}
