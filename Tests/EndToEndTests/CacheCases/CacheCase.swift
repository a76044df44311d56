/// One sentence about the cache, shown by a few requests in a row for a URI of its own.
///
/// In field lines `{-100}` stands for the HTTP-date of so many seconds from the case's start, and in those of answers `{self}` for the case's path.
struct CacheCase: Sendable {
    let sentence: String
    let steps: [Step]

    init(_ sentence: String, _ steps: [Step]) {
        self.sentence = sentence
        self.steps = steps
    }

    /// Two times the same request, the same answer waiting at the origin.
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

    /// What the origin says, if it is asked.
    struct Answer: Sendable {
        let status: Int
        let fields: [String]
        /// `nil` is a body that tells the step.
        let body: String?

        init(_ status: Int = 200, _ fields: [String] = [], body: String? = nil) {
            self.status = status
            self.fields = fields
            self.body = body
        }
    }

    enum Outcome: Sendable, Equatable {
        case any
        /// The origin was not asked.
        case reused
        /// The origin was asked, if at all, for nobody: the client has what was stored.
        case servedStale
        /// The origin was asked, and without a condition of ours.
        case forwarded
        /// The origin was asked with this field, and its 304 led to what was stored.
        case validated(String)
        /// The origin was asked with a tag, and its 304 led to an answer of this status from what was stored.
        case validatedFor(Int)
        /// The origin was asked with this field, and sent another response.
        case replaced(String)
        /// The origin was asked with this field, and as its 304 spoke of something else, once more without.
        case askedAgain(String)
    }

    /// A request, and what has to come of it.
    struct Step: Sendable {
        let method: String
        let fields: [String]
        let suffix: String
        /// What the request carries.
        let content: String
        /// `nil`: the origin takes the request and breaks the connection.
        let answer: Answer?
        let outcome: Outcome
        let status: Int?
        let body: String?
        /// Lines that the client gets.
        let present: [String]
        /// Names of fields that the client does not get.
        let absent: [String]
        /// What Larder says of itself in Cache-Status. The ttl may be up to five seconds less.
        let tells: String?
        /// Lines that the origin gets.
        let asks: [String]
        /// Seconds that pass before it.
        let after: Int64
        /// How often the origin has been asked for this case by then.
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

/// Words that nearly every case needs.
let fresh = "Cache-Control: max-age=3600"
/// Fresh for an hour, and that hour is over.
let stale = [fresh, "Age: 4000"]
let tagged = "ETag: \"v1\""
let modified = "Last-Modified: {-100000}"
