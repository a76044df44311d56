/// What somebody at either side of the proxy notices of one exchange, and what the store holds after it.
struct ModelOutcome: Hashable, CustomStringConvertible {
    struct Answer: Hashable {
        /// The fields of an answer that are compared; of a 304 only those that it has to have (RFC 9110 §15.4.5).
        private static let watched = ["x-body", "x-meta", "x-apart", "last-modified"]
        private static let watchedInAll = ["etag", "cache-control", "expires", "vary"]

        var status: Int
        /// Of a stored response that was used.
        var age: Int?
        private(set) var fields: [String] = []

        /// An answer of our own.
        init(status: Int) { self.status = status }

        init(status: Int, age: Int?, fields: ModelFields) {
            self.status = status
            self.age = age
            for name in (status == 304 ? [] : Self.watched) + Self.watchedInAll {
                self.fields += fields.values(name).map { "\(name): \($0)" }
            }
        }
    }

    /// The preconditions of each request that went to the origin server for the client's.
    var forwarded: [ModelPreconditions] = []
    var answer = Answer(status: 0)
    /// And of those that went behind the answer.
    var background: [ModelPreconditions] = []
    /// Each stored response by its target, body and updates, in no order.
    var stored: [String] = []

    /// A stored response in one line.
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
