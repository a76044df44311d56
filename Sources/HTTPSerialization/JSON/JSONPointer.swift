/// A place in a JSON value (RFC 6901): `/users/0/name`; the empty pointer is the whole value.
public struct JSONPointer: Hashable, Sendable, CustomStringConvertible {
    /// Names of members and places of elements, from the outermost on, without escapes.
    public let parts: [String]

    /// - Returns: `nil` for a text that is not empty and does not begin with a slash, and for a `~` that is neither `~0` nor `~1`.
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

    /// - Parameter parts: names of members and places of elements, without escapes.
    package init(parts: [String]) { self.parts = parts }

    /// As it is written.
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

    /// The place of an element: digits without a zero before them.
    static func place(_ part: String) -> Int? {
        guard part == "0" || part.utf8.first != UInt8(ascii: "0"), part.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
        return Int(part)
    }
}

extension JSONValue {
    /// What stands at a place, or `nil` where nothing does.
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

    /// Puts a value at a place: in the place of what stands there, as a new last member, or behind the last element (`-`, or its count).
    /// - Returns: whether there was somewhere to put it: nothing around it is made.
    public mutating func set(_ value: JSONValue, at pointer: JSONPointer) -> Bool { change(pointer.parts[...], to: value) }

    /// Takes out what stands at a place: every member of the name, or the element, so that those behind it move up.
    /// - Returns: whether anything stood there. The whole value stays.
    public mutating func remove(at pointer: JSONPointer) -> Bool { !pointer.parts.isEmpty && change(pointer.parts[...], to: nil) }

    private mutating func change(_ parts: ArraySlice<String>, to value: JSONValue?) -> Bool {
        guard let part = parts.first else {
            if let value { self = value }
            return true
        }
        let isLast = parts.count == 1
        switch self {
        case .object(var object):
            // Out of the value while it is changed, so that nothing is copied.
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
