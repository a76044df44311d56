import Foundation

/// A JSON response of Larder, whose members are read by their names.
package struct JSONAnswer {
    private let value: Any?

    package init(_ text: String) {
        // Invalid JSON has no members.
        value = try? JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    package subscript(name: String) -> Any? { (value as? [String: Any])?[name] }

    package var first: [String: Any]? { (value as? [[String: Any]])?.first }
}
