import HTTPMessage

/// Parses `name=value&name=value` in queries and forms (the URL standard's application/x-www-form-urlencoded).
///
/// `+` and `%20` are spaces; a `%` that does not begin an escape stays a `%`; bytes that are not UTF-8 are replaced. Only the
/// size of a form can be an error.
public struct FormParser: Hashable, Sendable {
    /// Maximum length of a form, in bytes; a longer form fails with `tooLong`.
    public var lengthLimit = 8 << 20
    /// Maximum number of pairs; a form with more pairs fails with `tooManyPairs`.
    public var pairLimit = 10_000
    /// Whether brackets in names denote objects and arrays, as `FormEncoder` writes them. If not, every value is a string under
    /// its name.
    public var nests = true
    /// Maximum number of brackets in one name, at most 32. A name with more brackets is used as written.
    public var depthLimit = 16

    /// A limit is exceeded.
    public enum Fault: String, Error, Sendable {
        case tooLong = "too_long"
        case tooManyPairs = "too_many_pairs"
    }

    /// The default limits.
    public init() {}

    /// The pairs in order; brackets in names are not interpreted. A name without an equals sign has no value.
    public func pairs(of form: [UInt8]) throws(Fault) -> [FormEncoder.Pair] {
        if form.count > lengthLimit { throw .tooLong }
        var pairs: [FormEncoder.Pair] = []
        for part in form.split(separator: UInt8(ascii: "&")) {
            if pairs.count == pairLimit { throw .tooManyPairs }
            let equals = part.firstIndex(of: ASCII.equals)
            let name = Self.unescaped(part[..<(equals ?? part.endIndex)])
            pairs.append(FormEncoder.Pair(name: name, value: equals.map { Self.unescaped(part[($0 + 1)...]) }))
        }
        return pairs
    }

    /// The parameters, in the structure that `FormEncoder` writes; every value is a string, or null if there is no equals sign.
    ///
    /// `a=1&a=2` and `a[]=1&a[]=2` are arrays, `a[b]=1` is an object. A pair that conflicts with an earlier one is appended
    /// under its name as written.
    public func parse(_ form: [UInt8]) throws(Fault) -> JSONObject {
        var root = FormNode()
        var beside: [JSONObject.Member] = []
        for pair in try pairs(of: form) {
            let value = pair.value.map { JSONValue.string($0) } ?? .null
            let path = nests ? path(of: pair.name) : [pair.name]
            if !root.insert(value, at: path[...]) { beside.append(JSONObject.Member(name: pair.name, value: value)) }
        }
        return JSONObject(root.object.members + beside)
    }

    /// Splits a name at its brackets: `a[b][]` becomes `a`, `b` and the empty string.
    private func path(of name: String) -> [String] {
        let octets = Array(name.utf8)
        guard let first = octets.firstIndex(of: UInt8(ascii: "[")), first > 0, octets.last == UInt8(ascii: "]") else {
            return [name]
        }
        var path = [String(decoding: octets[..<first], as: UTF8.self)]
        var start = first
        while start < octets.count {
            guard octets[start] == UInt8(ascii: "["), path.count <= min(depthLimit, 32),
                let end = octets[start...].firstIndex(of: UInt8(ascii: "]"))
            else { return [name] }
            path.append(String(decoding: octets[(start + 1)..<end], as: UTF8.self))
            start = end + 1
        }
        return path
    }

    private static func unescaped(_ octets: ArraySlice<UInt8>) -> String {
        String(decoding: PercentEncoding.decode(octets.span, isForm: true), as: UTF8.self)
    }
}

/// An object while it is built.
private struct FormNode {
    private enum Kind {
        case value(JSONValue)
        case list([JSONValue])
        case object(FormNode)
    }

    private var names: [String] = []
    private var kinds: [String: Kind] = [:]

    /// - Returns: `false` if the path already has a value of another kind.
    mutating func insert(_ value: JSONValue, at path: ArraySlice<String>) -> Bool {
        let name = path[path.startIndex]
        // The former value is removed from the dictionary while it is changed, so that nothing is copied.
        let former = kinds.removeValue(forKey: name)
        guard let new = Self.joined(former, value, at: path.dropFirst()) else {
            kinds[name] = former
            return false
        }
        if former == nil { names.append(name) }
        kinds[name] = new
        return true
    }

    /// - Returns: `nil` if the new value conflicts with the former value.
    private static func joined(_ former: consuming Kind?, _ value: JSONValue, at rest: ArraySlice<String>) -> Kind? {
        let isElement = rest.isEmpty || (rest.count == 1 && rest.first == "")
        switch former {
        case nil where rest.isEmpty: return .value(value)
        case nil where isElement: return .list([value])
        case nil: return inserted(value, at: rest, into: FormNode())
        case .value(let other): return rest.isEmpty ? .list([other, value]) : nil
        case .list(var values):
            guard isElement else { return nil }
            values.append(value)
            return .list(values)
        case .object(let node): return isElement ? nil : inserted(value, at: rest, into: node)
        }
    }

    private static func inserted(_ value: JSONValue, at rest: ArraySlice<String>, into node: consuming FormNode) -> Kind? {
        // An array of objects is ambiguous: it is unclear where the members of one element end and those of the next begin.
        guard rest.first?.isEmpty == false, node.insert(value, at: rest) else { return nil }
        return .object(node)
    }

    var object: JSONObject {
        JSONObject(
            names.compactMap { name in
                switch kinds[name] {
                case .value(let value): JSONObject.Member(name: name, value: value)
                case .list(let values): JSONObject.Member(name: name, value: .array(values))
                case .object(let node): JSONObject.Member(name: name, value: .object(node.object))
                case nil: nil
                }
            })
    }
}
