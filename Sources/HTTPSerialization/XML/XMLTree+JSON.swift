extension XMLTree {
    /// The tree as JSON: an object with one member, the root under its name. An element becomes
    ///
    /// - null if it has neither attributes nor children,
    /// - a string if it has only characters,
    /// - else an object: attributes as `@name`; elements by name in order of first appearance, as an array if a name appears
    ///   more than once; and characters, joined, as `#text` unless they are all whitespace.
    ///
    /// Names are written with their prefixes. Comments, instructions and the order of elements with different names are lost.
    public var json: JSONValue { .object(JSONObject([(root.name.qualified, root.json)])) }
}

extension XMLTree.Element {
    var json: JSONValue {
        let characters = children.compactMap { if case .text(let text) = $0 { text } else { nil } }.joined()
        let elements = self.elements
        if attributes.isEmpty && elements.isEmpty { return characters.isEmpty ? .null : .string(characters) }
        var object = JSONObject(attributes.map { ("@" + $0.name.qualified, .string($0.value)) })
        var places: [String: [JSONValue]] = [:]
        var order: [String] = []
        for element in elements {
            let name = element.name.qualified
            if places[name] == nil { order.append(name) }
            places[name, default: []].append(element.json)
        }
        for name in order {
            guard let values = places[name] else { continue }
            object.members.append(JSONObject.Member(name: name, value: values.count == 1 ? values[0] : .array(values)))
        }
        if characters.contains(where: { !$0.isWhitespace }) {
            object.members.append(JSONObject.Member(name: "#text", value: .string(characters)))
        }
        return .object(object)
    }
}
