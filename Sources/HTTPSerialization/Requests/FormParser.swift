import HTTPMessage

/// Reads `name=value&name=value`, as queries and forms have it (the URL standard's application/x-www-form-urlencoded).
///
/// `+` and `%20` are spaces; a `%` that begins no escape stands for itself; bytes that are no UTF-8 are replaced. Nothing is wrong with a form
/// but its size.
public struct FormParser: Hashable, Sendable {
    /// Bytes of a form; one more is `tooLong`.
    public var lengthLimit = 8 << 20
    /// Pairs of a form; one more is `tooManyPairs`.
    public var pairLimit = 10_000
    /// Whether brackets in names mean objects and arrays, as `FormEncoder` writes them. Else every value is a text under its name.
    public var nests = true
    /// Brackets of one name; more of them are part of the last name. At most 32.
    public var depthLimit = 16

    /// Too much of something.
    public enum Fault: String, Error, Sendable {
        case tooLong = "too_long"
        case tooManyPairs = "too_many_pairs"
    }

    /// With the usual limits.
    public init() {}

    /// The pairs in their order, nothing made of brackets. A name without an equals sign has no value.
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

    /// The parameters: what `FormEncoder` would have written, every value a text, and null where there is no equals sign.
    ///
    /// `a=1&a=2` and `a[]=1&a[]=2` are arrays, `a[b]=1` is an object. What does not fit to what stands there already stands at the end
    /// under its name as it is written.
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

    /// `a[b][]` as `a`, `b` and nothing.
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

/// An object as it grows.
private struct FormNode {
    private enum Kind {
        case value(JSONValue)
        case list([JSONValue])
        case object(FormNode)
    }

    private var names: [String] = []
    private var kinds: [String: Kind] = [:]

    /// - Returns: `false` where something of another kind stands there.
    mutating func insert(_ value: JSONValue, at path: ArraySlice<String>) -> Bool {
        let name = path[path.startIndex]
        // Taken out, so that what is changed is not copied.
        let former = kinds.removeValue(forKey: name)
        guard let new = Self.joined(former, value, at: path.dropFirst()) else {
            kinds[name] = former
            return false
        }
        if former == nil { names.append(name) }
        kinds[name] = new
        return true
    }

    /// - Returns: `nil` where they do not fit.
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
        // An array of what has members cannot be told from its elements' members.
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
