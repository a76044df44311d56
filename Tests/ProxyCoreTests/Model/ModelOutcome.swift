/// The result of an exchange as seen by client and origin, and the content of the store after it.
struct ModelOutcome: Hashable, CustomStringConvertible {
    struct Answer: Hashable {
        /// The fields of a response that are compared; for a 304 only the required ones (RFC 9110 §15.4.5).
        private static let watched = ["x-body", "x-meta", "x-apart", "last-modified"]
        private static let watchedInAll = ["etag", "cache-control", "expires", "vary"]

        var status: Int
        /// The age of a stored response that was used.
        var age: Int?
        private(set) var fields: [String] = []

        /// A generated response.
        init(status: Int) { self.status = status }

        init(status: Int, age: Int?, fields: ModelFields) {
            self.status = status
            self.age = age
            for name in (status == 304 ? [] : Self.watched) + Self.watchedInAll {
                self.fields += fields.values(name).map { "\(name): \($0)" }
            }
        }
    }

    /// The preconditions of each request that was sent to the origin server for the client's request.
    var forwarded: [ModelPreconditions] = []
    var answer = Answer(status: 0)
    /// The preconditions of background requests.
    var background: [ModelPreconditions] = []
    /// Each stored response by its target, body and updates, in any order.
    var stored: [String] = []

    /// One line for a stored response.
    static func line(url: String, _ fields: ModelFields) -> String {
        "\(url) body \(fields.single("x-body") ?? "none") updated by \(fields.single("x-meta") ?? "none")"
    }

    var description: String {
        func text(_ conditions: [ModelPreconditions]) -> String {
            conditions.map { one in
                let parts = one.noneMatch + (one.modifiedSince.map { ["since \($0)"] } ?? []) + one.forOrigin
                return parts.isEmpty ? "unconditional" : parts.joined(separator: " ")
            }.joined(separator: ", then ")
        }
        return """
            to the origin: \(text(forwarded)); behind: \(text(background))
                answer \(answer.status), age \(answer.age.map { "\($0)" } ?? "none"), \(answer.fields)
                stored \(stored)
            """
    }
}
