import HTTPMessage

/// Encodes parameters as `name=value&name=value`, for queries and forms alike.
///
/// Nested objects are written `user[name]=…`. Names and values are UTF-8, percent-encoded except for letters, digits and
/// `-._~/?`. RFC 3986 §3.4 allows slashes and question marks in a query; all other characters have a special meaning for some
/// servers.
public struct FormEncoder: Hashable, Sendable {
    /// How pairs are written.
    public var options: FormEncodingOptions

    /// An encoder with these options.
    public init(_ options: FormEncodingOptions = FormEncodingOptions()) { self.options = options }

    /// One name with its value, not escaped. A `nil` value is written without an equals sign.
    public struct Pair: Hashable, Sendable {
        /// The name, not escaped.
        public let name: String
        /// The value, not escaped; `nil` for a bare name.
        public let value: String?

        /// A pair.
        public init(name: String, value: String?) {
            self.name = name
            self.value = value
        }
    }

    /// The pairs in the order in which they are written. Empty arrays and objects yield none.
    public func pairs(of parameters: JSONObject) -> [Pair] {
        var pairs: [Pair] = []
        appendMembers(of: parameters, below: nil, to: &pairs)
        return pairs
    }

    /// The pairs as one text; empty if there are no pairs.
    public func encode(_ parameters: JSONObject) -> String {
        pairs(of: parameters).map { pair in
            let name = Self.escape(pair.name, options.spaces)
            return pair.value.map { name + "=" + Self.escape($0, options.spaces) } ?? name
        }.joined(separator: "&")
    }

    /// The URI with the parameters added to its query, before its fragment: after `?` if it has no query, else after `&`.
    public func appending(_ parameters: JSONObject, to target: String) -> String {
        let query = encode(parameters)
        guard !query.isEmpty else { return target }
        let fragmentStart = target.firstIndex(of: "#") ?? target.endIndex
        let head = target[..<fragmentStart]
        let separator =
            if !head.contains("?") { "?" } else if head.hasSuffix("?") || head.hasSuffix("&") { "" } else { "&" }
        return head + separator + query + target[fragmentStart...]
    }

    /// A name or value with all characters escaped except letters, digits and `-._~/?`.
    public static func escape(_ text: String, _ spaces: FormEncodingOptions.Spaces = .percent) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count)
        for octet in text.utf8 {
            if standsForItself(octet) {
                escaped.append(octet)
            } else if octet == ASCII.space && spaces == .plus {
                escaped.append(UInt8(ascii: "+"))
            } else {
                PercentEncoding.append(encoded: octet, into: &escaped)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    private static func standsForItself(_ octet: UInt8) -> Bool {
        switch octet {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), ASCII.slash, ASCII.question: true
        default: ASCII.isDigit(octet) || ASCII.isAlpha(octet)
        }
    }

    private func appendMembers(of object: JSONObject, below name: String?, to pairs: inout [Pair]) {
        var members = object.members
        if options.sortsNames { members.sort { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) } }
        for member in members { append(member.value, named: name.map { "\($0)[\(member.name)]" } ?? member.name, to: &pairs) }
    }

    private func append(_ value: JSONValue, named name: String, to pairs: inout [Pair]) {
        switch value {
        case .object(let object): appendMembers(of: object, below: name, to: &pairs)
        case .array(let elements):
            for (place, element) in elements.enumerated() {
                switch options.arrays {
                case .brackets: append(element, named: name + "[]", to: &pairs)
                case .repeated: append(element, named: name, to: &pairs)
                case .indices: append(element, named: "\(name)[\(place)]", to: &pairs)
                }
            }
        case .string(let text): pairs.append(Pair(name: name, value: text))
        case .number(let number): pairs.append(Pair(name: name, value: number.text))
        case .bool(let bool):
            let isNumeric = options.booleans == .numeric
            pairs.append(Pair(name: name, value: bool ? (isNumeric ? "1" : "true") : (isNumeric ? "0" : "false")))
        case .null:
            switch options.nulls {
            case .bareName: pairs.append(Pair(name: name, value: nil))
            case .emptyValue: pairs.append(Pair(name: name, value: ""))
            case .leftOut: break
            }
        }
    }
}
