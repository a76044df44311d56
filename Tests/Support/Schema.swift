import Foundation

/// Checks JSON against a schema in docs, with the subset of JSON Schema that those schemas use.
package struct Schema {
    private let root: [String: Any]

    /// - Parameter file: the name of the schema in docs.
    /// - Returns: what is wrong, with its place; empty if the value conforms to the schema.
    package static func faults(of value: Any, in file: String) -> [String] {
        let path = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/\(file)")
        guard let data = try? Data(contentsOf: path),
            let root = (try? JSONSerialization.jsonObject(with: data)) as? [String: Any],
            !root.isEmpty
        else { return ["docs/\(file) is not readable"] }
        return Schema(root: root).faults(of: value, by: root, at: "$")
    }

    private func faults(of value: Any, by schema: [String: Any], at place: String) -> [String] {
        if schema["$ref"] as? String == "#/$defs/step" {
            let step = (root["$defs"] as? [String: Any])?["step"] as? [String: Any] ?? [:]
            return faults(of: value, by: step, at: place)
        }
        var faults: [String] = []
        if let type = schema["type"] as? String, !Self.isOf(type, value) { return ["\(place): no \(type)"] }
        if let words = schema["enum"] as? [String], !words.contains(value as? String ?? "") {
            faults.append("\(place): not a word")
        }
        if let pattern = schema["pattern"] as? String, let text = value as? String,
            text.range(of: pattern, options: .regularExpression) == nil
        {
            faults.append("\(place): \(text)")
        }
        if let object = value as? [String: Any] {
            let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
            for name in schema["required"] as? [String] ?? [] where object[name] == nil {
                faults.append("\(place).\(name): missing")
            }
            for (name, member) in object {
                if let property = properties[name] {
                    faults += self.faults(of: member, by: property, at: "\(place).\(name)")
                } else if schema["additionalProperties"] as? Bool == false {
                    faults.append("\(place).\(name): unknown")
                }
            }
        }
        if let array = value as? [Any], let items = schema["items"] as? [String: Any] {
            for (index, element) in array.enumerated() { faults += self.faults(of: element, by: items, at: "\(place)[\(index)]") }
        }
        return faults
    }

    private static func isOf(_ type: String, _ value: Any) -> Bool {
        switch type {
        case "object": value is [String: Any]
        case "array": value is [Any]
        case "string": value is String
        case "integer": value is Int
        default: false
        }
    }
}
