/// One requirement about the cache, shown by a few consecutive requests for a URI of its own.
///
/// In field lines `{-100}` stands for the HTTP-date 100 seconds before the case's start. In responses `{self}` stands for the case's path.
struct CacheCase: Sendable {
    let sentence: String
    let steps: [Step]

    init(_ sentence: String, _ steps: [Step]) {
        self.sentence = sentence
        self.steps = steps
    }

    /// The same request twice; the origin has the same response for both.
    static func twice(
        _ sentence: String, _ fields: [String], _ outcome: Outcome, status: Int = 200, first: [String] = [], second: [String] = []
    ) -> CacheCase {
        CacheCase(
            sentence,
            [
                Step("GET", first, answer: Answer(status, fields)),
                Step("GET", second, answer: Answer(status, fields), outcome),
            ])
    }

    /// The origin's response, if it receives a request.
    struct Answer: Sendable {
        let status: Int
        let fields: [String]
        /// `nil` stands for a body that names the step.
        let body: String?

        init(_ status: Int = 200, _ fields: [String] = [], body: String? = nil) {
            self.status = status
            self.fields = fields
            self.body = body
        }
    }

    enum Outcome: Sendable, Equatable {
        case any
        /// The origin received no request.
        case reused
        /// The client received the stored response. The origin may have received a background request.
        case servedStale
        /// The origin received a request without a condition of Larder's own.
        case forwarded
        /// The origin received this field, and its 304 led to the stored response.
        case validated(String)
        /// The origin received an entity tag, and its 304 led to a response of this status from the store.
        case validatedFor(Int)
        /// The origin received this field and sent another response.
        case replaced(String)
        /// The origin received this field. Its 304 was about another response, so it received the request once more without the field.
        case askedAgain(String)
    }

    /// A request and its expected result.
    struct Step: Sendable {
        let method: String
        let fields: [String]
        let suffix: String
        /// The field lines of the request.
        let content: String
        /// `nil`: the origin reads the request and closes the connection.
        let answer: Answer?
        let outcome: Outcome
        let status: Int?
        let body: String?
        /// Lines that the client receives.
        let present: [String]
        /// Names of fields that the client does not receive.
        let absent: [String]
        /// Larder's own member of Cache-Status. The ttl may be up to five seconds less.
        let tells: String?
        /// Lines that the origin receives.
        let asks: [String]
        /// Seconds that pass before the request.
        let after: Int64
        /// How many requests the origin has received for this case by then.
        let total: Int?

        init(
            _ method: String = "GET", _ fields: [String] = [], suffix: String = "", answer: Answer? = Answer(),
            _ outcome: Outcome = .any, status: Int? = nil, body: String? = nil, present: [String] = [], absent: [String] = [],
            tells: String? = nil, asks: [String] = [], after: Int64 = 0, total: Int? = nil, content: String? = nil
        ) {
            self.method = method
            self.fields = fields
            self.suffix = suffix
            self.content = content ?? (["POST", "PUT", "PATCH"].contains(method) ? "x" : "")
            self.answer = answer
            self.outcome = outcome
            self.status = status
            self.body = body
            self.present = present
            self.absent = absent
            self.tells = tells
            self.asks = asks
            self.after = after
            self.total = total
        }
    }
}

/// Values that most cases use.
let fresh = "Cache-Control: max-age=3600"
/// Fresh for an hour, and more than an hour old.
let stale = [fresh, "Age: 4000"]
let tagged = "ETag: \"v1\""
let modified = "Last-Modified: {-100000}"
