/// A position in a JSON value (RFC 6901): `/users/0/name`; the empty pointer is the whole value.
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// Member names and element indices from the outermost on, with their escapes decoded.
    public let parts: [String]

    /// - Returns: `nil` for a nonempty text that does not begin with a slash, and for a `~` that is followed by neither `0` nor `1`.
    public init?(_ text: String) {
        if text.isEmpty {
            parts = []
            return
        }
        guard text.hasPrefix("/") else { return nil }
        var parts: [String] = []
        for part in text.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let read = Self.unescaped(part) else { return nil }
            parts.append(read)
        }
        self.parts = parts
    }

    /// - Parameter parts: member names and element indices, without escapes.
    package init(parts: [String]) { self.parts = parts }

    /// The pointer's text, with escapes.
    public var description: String {
        parts.map { part in "/" + part.map { $0 == "~" ? "~0" : $0 == "/" ? "~1" : "\($0)" }.joined() }.joined()
    }

    private static func unescaped(_ part: Substring) -> String? {
        var text = ""
        var rest = part.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "~" else {
                text.unicodeScalars.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "0": text += "~"
            case "1": text += "/"
            default: return nil
            }
        }
        return text
    }

    /// The index of an element: digits without a leading zero.
    static func place(_ part: String) -> Int? {
        guard part == "0" || part.utf8.first != UInt8(ascii: "0"), part.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        return Int(part)
    }
}

extension JSONValue {
    /// The value at a position, or `nil` if there is none.
    public subscript(pointer: JSONPointer) -> JSONValue? {
        var value = self
        for part in pointer.parts {
            switch value {
            case .object(let object):
                guard let member = object[part] else { return nil }
                value = member
            case .array(let elements):
                guard let place = JSONPointer.place(part), elements.indices.contains(place) else { return nil }
                value = elements[place]
            default: return nil
            }
        }
        return value
    }

    /// Sets a value: replaces the existing one, or appends a member or an element (`-`, or the count).
    /// - Returns: whether the position exists or can be appended to; missing containers are not created.
    public mutating func set(_ value: JSONValue, at pointer: JSONPointer) -> Bool { change(pointer.parts[...], to: value) }

    /// Removes a value: every member with the name, or the element, so that later elements move up.
    /// - Returns: whether the value existed. The whole value cannot be removed.
    public mutating func remove(at pointer: JSONPointer) -> Bool { !pointer.parts.isEmpty && change(pointer.parts[...], to: nil) }

    private mutating func change(_ parts: ArraySlice<String>, to value: JSONValue?) -> Bool {
        guard let part = parts.first else {
            if let value { self = value }
            return true
        }
        let isLast = parts.count == 1
        switch self {
        case .object(var object):
            // The object is moved out of `self` while it is changed, so that nothing is copied.
            self = .null
            defer { self = .object(object) }
            if isLast {
                let isThere = object[part] != nil
                object[part] = value
                return isThere || value != nil
            }
            guard let place = object.members.lastIndex(where: { $0.name == part }) else { return false }
            return object.members[place].value.change(parts.dropFirst(), to: value)
        case .array(var elements):
            self = .null
            defer { self = .array(elements) }
            let end = elements.count
            guard let place = part == "-" ? end : JSONPointer.place(part), place <= end else { return false }
            if place == end {
                guard isLast, let value else { return false }
                elements.append(value)
                return true
            }
            if !isLast { return elements[place].change(parts.dropFirst(), to: value) }
            if let value { elements[place] = value } else { elements.remove(at: place) }
            return true
        default: return false
        }
    }
}
