import TestSupport
import HTTPCaching
import HTTPMessage

@testable import ProxyCore

/// A client's request and its response.
struct SimulatedClient {
    let line: String
    let fields: [String]
    var head: WrittenHead?
    var body: [UInt8] = []
    var wasAborted = false

    var text: String { Messages.requestText(line, fields) }

    init() {
        line = ""
        fields = []
    }

    init(using random: inout SeededGenerator) {
        let method = random.chance(85) ? "GET" : random.one(of: ["HEAD", "HEAD", "POST", "CONNECT", "OPTIONS", "DELETE"])
        let path = "/\(random.below(6))"
        let version = random.chance(5) ? " HTTP/1.0" : ""
        switch method {
        case "CONNECT": line = "CONNECT a.example:\(random.one(of: ["443", "25"]))\(version)"
        case "OPTIONS": line = "OPTIONS *\(version)"
        default: line = "\(method) http://\(random.chance(3) ? "denied.example" : "a.example")\(path)\(version)"
        }
        var fields: [String] = []
        if random.chance(30) { fields.append("Accept-Language: \(random.one(of: ["en", "de"]))") }
        if random.chance(20) { fields.append("Cookie: id=\(random.below(3))") }
        if random.chance(5) { fields.append("Authorization: Basic x") }
        if random.chance(15) {
            let control = random.one(of: ["no-cache", "no-store", "max-age=0", "only-if-cached", "max-stale=60", "min-fresh=3"])
            fields.append("Cache-Control: \(control)")
        }
        if random.chance(8) { fields.append("Range: bytes=\(random.one(of: ["0-9", "5-", "-3", "70-", "0-1,3-4"]))") }
        if random.chance(6) { fields.append("If-None-Match: \"\(random.below(6)).0.-\"") }
        if method == "POST" { fields.append("Content-Length: 0") }
        if random.chance(5) { fields.append("Connection: close") }
        self.fields = fields
    }

    private func value(_ name: String) -> String? {
        fields.first { $0.lowercased().hasPrefix(name + ":") }.map { String($0.dropFirst(name.count + 2)) }
    }

    /// What is wrong with the response at its end; `nil` if nothing is.
    func judge(_ exchange: borrowing Exchange, number: Int, of answers: [OriginAnswer]) -> String? {
        if exchange.state == .finished, exchange.trace.outcome == .tunnel { return nil }
        guard let head else { return "ends without an answer" }
        guard let text = head["x-body"], let index = Int(text) else { return nil }
        let answer = answers[index]
        if !line.contains(answer.path) { return "got \(answer.path)" }
        if answer.isForOwnerAlone, answer.owner != number { return "got what was for \(answer.owner): \(answer.fields)" }
        if let nominated = answer.nominated, value(nominated.name) != nominated.value {
            return "got what varies: \(answer.fields), for \(nominated)"
        }
        if line.contains("/3"), !answer.isWellFormed, head.status == 200, (1...100).contains(answer.body.count),
            !line.hasPrefix("HEAD"),
            !line.hasPrefix("POST"), !line.hasPrefix("DELETE")
        {
            return "got what a rule refuses"
        }
        return judgeBody(head, of: answer)
    }

    private func judgeBody(_ head: WrittenHead, of answer: OriginAnswer) -> String? {
        if wasAborted { return nil }
        var expected = answer.body[...]
        if head.framing == .none || head.status == 416 || line.hasPrefix("HEAD") { expected = [] }
        if head.status == 206, let text = head["content-range"], let range = ContentRange(Array(text.utf8).span),
            case .part(let part, _) = range
        {
            expected = answer.body[Int(part.lowerBound)..<Int(part.upperBound)]
        }
        if body[...] != expected { return "got \(body.count) octets as a whole message, of \(expected.count) (\(head.status))" }
        return nil
    }

    /// Whether the stored response may be used now; `nil` if it may.
    func judgeReuse(in exchange: borrowing Exchange, of answers: [OriginAnswer], at now: Timestamp) -> String? {
        guard let selected = exchange.cache.selected, let line = selected.head.fields.index(ofName: Array("x-body".utf8).span),
            let index = Int(selected.head.fields.text(of: selected.head.fields.lines[line].value))
        else { return "a stored response from nowhere" }
        let answer = answers[index]
        switch exchange.trace.outcome {
        case .hit, .collapsed:
            guard let lifetime = answer.lifetime else { return "reuses what has no lifetime" }
            let age = now.milliseconds - selected.responseTime.milliseconds
            if age >= lifetime * 1000, exchange.obligations.cache.policy == nil {
                return "reuses after \(age) ms of \(lifetime) s"
            }
            return nil
        case .staleHit: return answer.forbidsStaleUse ? "serves stale: \(answer.fields)" : nil
        case .revalidated: return nil
        default: return "serves what is stored as \(exchange.trace.outcome)"
        }
    }
}
