import Foundation

/// The members of an error's JSON body, as text.
struct JSONBody {
    private let members: [String: Any]

    struct NotAnObject: Error {}

    init(_ bytes: [UInt8]) throws {
        guard let members = try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else { throw NotAnObject() }
        self.members = members
    }

    subscript(_ name: String) -> String? { members[name] as? String }

    var status: Int? { members["status"] as? Int }
    var isRetryable: Bool? { members["retryable"] as? Bool }

    /// The codes of validation faults, in order.
    var codes: [String] { (members["errors"] as? [[String: Any]] ?? []).compactMap { $0["code"] as? String } }
}
