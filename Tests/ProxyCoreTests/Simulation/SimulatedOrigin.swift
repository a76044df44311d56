import TestSupport
import HTTPMessage

/// The origin's response to one request, with its owner: the client's bytes are compared with it.
final class OriginAnswer {
    enum End { case complete, cut, fails }

    let number: Int
    let path: String
    /// The number of the exchange whose request it was made for.
    let owner: Int
    /// Whether only the owner may receive it.
    let isForOwnerAlone: Bool
    /// The nominated field in lower case, and its value in the request.
    let nominated: (name: String, value: String?)?
    let status: Int
    let fields: [String]
    let body: [UInt8]
    let hasKnownLength: Bool
    let end: End
    let isWellFormed: Bool
    let lifetime: Int64?
    let forbidsStaleUse: Bool
    /// When the origin made it, or last confirmed it.
    var confirmedAt: Timestamp

    init(
        number: Int, path: String, owner: Int, isForOwnerAlone: Bool, nominated: (name: String, value: String?)?, status: Int,
        fields: [String], body: [UInt8], hasKnownLength: Bool, end: End, isWellFormed: Bool, lifetime: Int64?,
        forbidsStaleUse: Bool, confirmedAt: Timestamp
    ) {
        self.number = number
        self.path = path
        self.owner = owner
        self.isForOwnerAlone = isForOwnerAlone
        self.nominated = nominated
        self.status = status
        self.fields = fields
        self.body = body
        self.hasKnownLength = hasKnownLength
        self.end = end
        self.isWellFormed = isWellFormed
        self.lifetime = lifetime
        self.forbidsStaleUse = forbidsStaleUse
        self.confirmedAt = confirmedAt
    }

    var hasContent: Bool { status != 304 && status != 204 }
}

/// An origin server that responds at random: cacheable or not, varying, chunked, truncated, failing, or 304.
struct SimulatedOrigin {
    private(set) var answers: [OriginAnswer] = []
    /// The current version of each resource, which gives its entity tag.
    private var versions = [Int](repeating: 0, count: 8)

    private struct Words {
        var control: String
        var lifetime: Int64?
        var isShared: Bool
        var forbidsStaleUse = false
        var allowsAuthorization = false
    }

    private static let words: [Words] = [
        Words(control: "max-age=5", lifetime: 5, isShared: true), Words(control: "max-age=60", lifetime: 60, isShared: true),
        Words(control: "max-age=60", lifetime: 60, isShared: true), Words(control: "max-age=0", lifetime: 0, isShared: true),
        Words(control: "max-age=2, stale-while-revalidate=30", lifetime: 2, isShared: true),
        Words(control: "max-age=2, stale-while-revalidate=30, stale-if-error=60", lifetime: 2, isShared: true),
        Words(control: "public, max-age=9", lifetime: 9, isShared: true, allowsAuthorization: true),
        Words(
            control: "max-age=3, must-revalidate", lifetime: 3, isShared: true, forbidsStaleUse: true, allowsAuthorization: true),
        Words(control: "s-maxage=4", lifetime: 4, isShared: true, forbidsStaleUse: true, allowsAuthorization: true),
        Words(control: "no-cache, max-age=9", lifetime: 0, isShared: true, forbidsStaleUse: true),
        Words(control: "no-store", lifetime: nil, isShared: false),
        Words(control: "private, max-age=9", lifetime: nil, isShared: false),
    ]

    /// The response to a request that reached the origin.
    mutating func answer(
        _ request: RequestHead, owner: Int, at now: Timestamp, using random: inout SeededGenerator
    ) -> OriginAnswer {
        let path = request.fields.text(of: request.target.path)
        let resource = Int(path.utf8.last ?? 0x30) & 7
        if random.chance(12) { versions[resource] += 1 }
        let field = random.one(of: ["", "", "Accept-Language", "Cookie", "*"])
        let tag = "\"\(resource).\(versions[resource]).\(Self.value(of: field, in: request) ?? "-")\""
        let words = random.one(of: Self.words)
        if request.fields.combinedValue(of: .ifNoneMatch) == tag, random.chance(80) {
            return notModified(tag, words, request, owner, at: now, using: &random)
        }
        let status = random.one(of: [200, 200, 200, 200, 200, 404, 500, 301, 204])
        let hasAuthorization = request.fields.contains(.authorization)
        let refusesStorage = request.fields.combinedValue(of: .cacheControl)?.contains("no-store") == true
        let isForOwner =
            !words.isShared || field == "*" || (hasAuthorization && !words.allowsAuthorization) || refusesStorage
            || request.method != .get
        var body: [UInt8] = []
        if status != 204 {
            for index in 0..<random.one(of: [0, 1, 10, 63, 64, 65, 150]) {
                body.append(UInt8(0x61 + (index + answers.count) % 26))
            }
        }
        let hasKnownLength = random.chance(60) || status == 204
        var fields = ["X-Body: \(answers.count)", "Cache-Control: \(words.control)"]
        // The fields of a response to HEAD apply to a body from a GET: it names no body, and has no other directives.
        if request.method == .head { fields = words.isShared ? [] : ["Cache-Control: \(words.control)"] }
        if request.method != .head, !field.isEmpty { fields.append("Vary: \(field)") }
        if random.chance(70) { fields.append("ETag: \(tag)") }
        if random.chance(30) { fields.append("Last-Modified: Tue, 14 Nov 2023 19:00:00 GMT") }
        if random.chance(20) { fields.append("Set-Cookie: id=\(owner)") }
        if status != 204 { fields.append(hasKnownLength ? "Content-Length: \(body.count)" : "Transfer-Encoding: chunked") }
        let answer = OriginAnswer(
            number: answers.count, path: path, owner: owner, isForOwnerAlone: isForOwner,
            nominated: field.isEmpty || field == "*" ? nil : (field.lowercased(), Self.value(of: field, in: request)),
            status: status, fields: fields, body: request.method == .head ? [] : body, hasKnownLength: hasKnownLength,
            end: random.chance(8) ? .fails : random.chance(8) && request.method != .head ? .cut : .complete,
            isWellFormed: random.chance(70), lifetime: words.lifetime, forbidsStaleUse: words.forbidsStaleUse, confirmedAt: now)
        answers.append(answer)
        return answer
    }

    /// A 304 for the stored response; occasionally for a different one, or one that forbids storing.
    private mutating func notModified(
        _ tag: String, _ words: Words, _ request: RequestHead, _ owner: Int, at now: Timestamp,
        using random: inout SeededGenerator
    ) -> OriginAnswer {
        var fields = ["ETag: \(random.chance(90) ? tag : "\"other\"")"]
        if random.chance(10) { fields.append("Cache-Control: no-store") }
        if random.chance(20) { fields.append("Set-Cookie: id=\(owner)") }
        let answer = OriginAnswer(
            number: answers.count, path: request.fields.text(of: request.target.path), owner: owner, isForOwnerAlone: true,
            nominated: nil, status: 304, fields: fields, body: [], hasKnownLength: true, end: .complete, isWellFormed: true,
            lifetime: nil, forbidsStaleUse: false, confirmedAt: now)
        answers.append(answer)
        return answer
    }

    static func value(of field: String, in request: RequestHead) -> String? {
        switch field.lowercased() {
        case "accept-language": request.fields.combinedValue(of: .acceptLanguage)
        case "cookie": request.fields.combinedValue(of: .cookie)
        default: nil
        }
    }
}
