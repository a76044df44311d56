extension XMLTree {
    /// The tree as JSON by this convention: an object of one member, the root by its name. An element is
    ///
    /// - null where it has neither attributes nor children,
    /// - a string where it has characters alone,
    /// - else an object: attributes as `@name`, elements by their names in the order in which each first comes, as an array where a
    ///   name comes more than once, and characters that are not blank, put together, as `#text`.
    ///
    /// Names are written with their prefixes. Comments, instructions and the order between elements of different names are lost.
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
