import Foundation

/// A JSON answer that was asked for by this program's own words.
package struct JSONAnswer {
    private let value: Any?

    package init(_ text: String) {
        // What is no JSON has no members.
        value = try? JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    package subscript(name: String) -> Any? { (value as? [String: Any])?[name] }

    package var first: [String: Any]? { (value as? [[String: Any]])?.first }
}
