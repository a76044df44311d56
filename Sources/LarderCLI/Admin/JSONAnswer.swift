import Foundation

/// A JSON answer that was asked for by this program's own words.
struct JSONAnswer {
    private let value: Any?

    init(_ text: String) {
        // What is no JSON has no members.
        value = try? JSONSerialization.jsonObject(with: Data(text.utf8))
    }

    subscript(name: String) -> Any? { (value as? [String: Any])?[name] }

    var first: [String: Any]? { (value as? [[String: Any]])?.first }
}
