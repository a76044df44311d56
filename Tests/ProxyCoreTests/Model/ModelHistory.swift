import TestSupport

/// Generates histories: few targets, small vocabularies, with some invalid values.
struct ModelHistory {
    static let epoch = 1_700_000_000
    static let host = "http://a.example"

    private var random: SeededGenerator
    private var time = epoch

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func steps(_ count: Int) -> [ModelStep] { (0..<count).map { step($0) } }

    private mutating func step(_ number: Int) -> ModelStep {
        time += random.one(of: [0, 1, 1, 2, 3, 5, 5, 10, 30, 100])
        let method = random.chance(82) ? "GET" : random.one(of: ["HEAD", "HEAD", "HEAD", "POST", "DELETE", "OPTIONS", "FROB"])
        let url = "\(Self.host)/\(random.below(3))"
        let fields = ModelFields(requestLines())
        let answers = (0..<3).map { answer(number * 10 + $0, to: method) }
        // The next step begins when this one has ended, however long it takes.
        let begin = time
        time += answers.reduce(0) { $0 + $1.delay }
        return ModelStep(
            number: number, time: begin, request: ModelRequest(method: method, url: url, fields: fields), answers: answers)
    }

    // MARK: Requests

    private mutating func requestLines() -> [String] {
        var lines: [String] = []
        if random.chance(25) { lines.append("Cache-Control: \(requestControl())") }
        if random.chance(5) { lines.append("Cache-Control: \(requestControl())") }
        if random.chance(5) { lines.append("Pragma: no-cache") }
        if random.chance(40) { lines.append("X-Kind: \(random.one(of: ["one", "two", "one, two", "one,two"]))") }
        if random.chance(5) { lines.append("x-kind: two") }
        if random.chance(8) { lines.append("Authorization: Basic x") }
        if random.chance(12) { lines.append("If-None-Match: \(random.one(of: Self.tags + ["*", "\"a\", W/\"b\"", "\"z\""]))") }
        if random.chance(10) { lines.append("If-Modified-Since: \(date(around: time - 1_000))") }
        if random.chance(3) { lines.append("If-Match: \(random.one(of: Self.tags))") }
        if random.chance(2) { lines.append("If-Unmodified-Since: \(ModelDate.text(time - 1_000))") }
        return lines
    }

    private mutating func requestControl() -> String {
        let seconds = random.one(of: [0, 1, 5, 10, 60])
        return random.one(of: [
            "no-cache", "no-store", "only-if-cached", "max-age=\(seconds)", "MAX-AGE=\(seconds)", "min-fresh=\(seconds)",
            "max-stale", "max-stale=\(seconds)", "max-age=\(seconds), max-stale=\(seconds * 2)", "max-stale, min-fresh=3",
            "only-if-cached, max-stale=\(seconds)", "stale-if-error=\(seconds)", "no-transform", "foo=\"no-cache, no-store\"",
            "max-age=\"\(seconds)\"", "no-cache, only-if-cached", "stale-if-error=\(seconds), max-age=5", "immutable",
        ])
    }

    // MARK: Answers

    private static let tags = ["\"a\"", "\"b\"", "W/\"a\"", "W/\"b\""]

    private mutating func answer(_ number: Int, to method: String) -> ModelStep.Answer {
        var answer = ModelStep.Answer()
        answer.delay = random.chance(80) ? 0 : random.one(of: [1, 2, 10])
        answer.behaviour = random.chance(86) ? .answers : random.one(of: [.fails, .fails, .claimsNotModified])
        let status =
            random.chance(72) ? 200 : random.one(of: [203, 204, 299, 301, 302, 404, 410, 429, 429, 500, 502, 503, 504, 599, 499])
        // A HEAD's fields may become those of a stored body, which does not change.
        let body = method == "HEAD" ? [] : ["X-Body: \(number)"]
        var lines = body + ["X-Meta: \(number)"] + freshness() + validators()
        if status != 204 { lines.append("Content-Length: \(random.one(of: [3, 3, 3, 4]))") }
        if random.chance(4) { lines += ["Connection: X-Apart", "X-Apart: hop"] }
        if random.chance(8) { lines.append("X-Apart: \(number)") }
        if random.chance(8) { lines.append("Set-Cookie: a=\(number)") }
        if random.chance(15) {
            let reference = random.one(of: ["/\(random.below(3))", "\(Self.host)/\(random.below(3))", "http://b.example/0"])
            lines.append("\(random.one(of: ["Location", "Content-Location"])): \(reference)")
        }
        answer.response = ModelResponse(status: status, fields: ModelFields(lines))
        var update = ["X-Meta: \(number)"]
        if random.chance(80) { update.append("ETag: \(random.one(of: Self.tags))") }
        if random.chance(20) { update.append("Last-Modified: \(date(around: time - 1_000))") }
        if random.chance(40) { update += freshness() }
        if random.chance(70), let tag = answer.response.entityTag {
            update.removeAll { $0.hasPrefix("ETag") }
            update.append("ETag: \(tag)")
        }
        answer.notModified = ModelFields(update)
        return answer
    }

    private mutating func validators() -> [String] {
        var lines: [String] = []
        if random.chance(60) { lines.append("ETag: \(random.one(of: Self.tags))") }
        if random.chance(40) { lines.append("Last-Modified: \(date(around: time - random.one(of: [0, 100, 1_000, 5_000])))") }
        return lines
    }

    private mutating func freshness() -> [String] {
        var lines: [String] = []
        if random.chance(85) { lines.append("Cache-Control: \(responseControl())") }
        if random.chance(15) { lines.append("cache-control: \(responseControl())") }
        if random.chance(20) { lines.append("Expires: \(date(around: time + random.one(of: [-100, 0, 5, 20, 100])))") }
        if random.chance(60) { lines.append("Date: \(date(around: time - random.one(of: [0, 0, 0, 1, 5, 50, -5])))") }
        if random.chance(12) {
            lines.append("Age: \(random.one(of: ["0", "1", "5", "30", "-1", "1.5", "5, 5", "x", "99999999999"]))")
        }
        if random.chance(25) {
            lines.append(
                "Vary: \(random.one(of: ["X-Kind", "X-Kind", "x-kind", "X-Kind, X-Other", "X-Other", "*", "X-Kind, *"]))")
        }
        return lines
    }

    private mutating func responseControl() -> String {
        let seconds = random.one(of: [0, 1, 3, 5, 10, 60])
        let more = random.one(of: [1, 5, 20])
        let life = random.one(of: [
            "max-age=\(seconds)", "max-age=\(seconds)", "Max-Age=\(seconds)", "max-age=\"\(seconds)\"", "s-maxage=\(seconds)",
            "public", "max-age=\(seconds), s-maxage=\(more)", "max-age=-1", "max-age=1.5", "max-age=", "max-age=x",
            "max-age=99999999999", "max-age=5, max-age=10", "max-age=5, max-age=5", "foo=bar", "foo=\"no-store, max-age=60\"",
        ])
        if random.chance(45) { return life }
        let word = random.one(of: [
            "must-revalidate", "proxy-revalidate", "no-cache", "No-Cache", "no-cache=\"X-Apart\"", "no-store", "private",
            "private=\"X-Apart\"", "private=\"x-apart, X-Other\"", "public", "immutable", "must-understand",
            "must-understand, no-store",
            "stale-while-revalidate=\(more)", "stale-while-revalidate=\(more)", "stale-if-error=\(more)",
            "stale-if-error=\(more)",
            "stale-while-revalidate=x", "no-transform", "no-cache=\"\"", "must-revalidate, stale-if-error=60",
        ])
        return random.chance(50) ? "\(life), \(word)" : "\(word),\(life)"
    }

    /// A date in one of its forms, or an invalid one.
    private mutating func date(around seconds: Int) -> String {
        if random.chance(70) { return ModelDate.text(seconds) }
        let text = ModelDate.text(seconds)
        var words: [Substring] = text.split(separator: " ")
        words[3] = "23"
        let forms: [String] = [
            ModelDate.text(seconds, .rfc850), ModelDate.text(seconds, .asctime), text.lowercased(), text.uppercased(),
            "\(text.dropLast(3))EST", text.filter { $0 != "," }, "0", "-1", String(text.dropLast(4)), "soon",
            words.joined(separator: " "),
        ]
        return random.one(of: forms)
    }
}
