import EventLoop
import Foundation
import TestSupport
import Testing

/// Plays cases through a proxy. A request field names the case and the step, and the origin responds as the table says.
struct CacheStage {
    private let stage: Stage
    private let table: CaseTable
    private let configuration: CaseConfiguration
    private let clock: CaseClock

    init(_ table: CaseTable, _ configuration: CaseConfiguration) throws {
        self.table = table
        self.configuration = configuration
        let clock = CaseClock()
        self.clock = clock
        let cases = table.cases
        stage = try Stage(
            table.settings, loops: configuration.loops, storePath: configuration.tier.storePath, store: configuration.tier.adjust
        ) { request, connection in
            guard connection.readBody(of: request) != nil, let place = Place(request["X-Place"]) else { return false }
            let step = cases[place.number].steps[place.step]
            guard let answer = step.answer else { return false }
            return connection.send(answer, to: request, at: place, outcome: step.outcome, clock)
        }
    }

    /// Plays all cases in order. A case that fails becomes an issue with the case's text.
    /// - Returns: the result of each request, in a form that does not depend on the machine's load.
    func play() throws -> [String] {
        var outcomes: [String] = []
        for (number, entry) in table.cases.enumerated() {
            clock.beginCase()
            for (index, step) in entry.steps.enumerated() {
                outcomes.append(try play(step, Place(number: number, step: index), of: entry))
            }
        }
        return outcomes
    }

    private func play(_ step: CacheCase.Step, _ place: Place, of entry: CacheCase) throws -> String {
        if configuration.tier == .disk {
            #expect(stage.proxy.store.statistics.memoryEntries == 0, "\(entry.sentence): something stands in memory")
        }
        if step.after > 0 {
            stage.proxy.pass(seconds: step.after)
            clock.pass(seconds: step.after)
        }
        let before = stage.origin.requestHeads.count
        let lines = ["X-Place: \(place)"] + step.fields.map(clock.resolved)
        let response = try stage.fetch(
            "/\(place.number)\(step.suffix)", method: step.method, fields: lines.map { $0 + "\r\n" }.joined(),
            body: step.content)
        // A background request of an earlier case may arrive late.
        let asked = stage.origin.requestHeads.dropFirst(before).map(OriginRequest.init(head:))
            .filter { $0["X-Place"]?.hasPrefix("\(place.number).") != false }
        var faults = faults(of: step.outcome, asked, response, place)
        if let status = step.status, response.status != status { faults.append("status \(response.status), not \(status)") }
        if let body = step.body, response.text != body { faults.append("body \(response.text.prefix(80)), not \(body)") }
        faults += step.present.filter { !response.bears($0) }.map { "no \($0)" }
        faults += step.absent.compactMap { name in response[name].map { "\(name): \($0)" } }
        if let tells = step.tells, !response.tells(tells) { faults.append("Cache-Status is not \(tells)") }
        let total = stage.origin.requestHeads.count { OriginRequest(head: $0)["X-Place"]?.hasPrefix("\(place.number).") == true }
        if let expected = step.total, total != expected { faults.append("\(total) requests at the origin, not \(expected)") }
        for line in step.asks.map(clock.resolved) where !asked.contains(where: { $0.bears(line) }) {
            faults.append("asked without \(line)")
        }
        #expect(
            faults.isEmpty,
            "\(configuration): \(entry.sentence), request \(place.step + 1): \(faults.joined(separator: "; ")) [\(response.cacheStatus)]"
        )
        let outcome = "\(entry.sentence), request \(place.step + 1): \(response.status) \(response.code ?? response.text)"
        // Timing decides whether the request waited for a background validation or found its result.
        switch step.outcome {
        case .any, .servedStale: return outcome
        default: return "\(outcome), \(asked.count) asked, \(response.cacheStatus.replacing(/ttl=-?[0-9]+/, with: "ttl"))"
        }
    }

    private func faults(
        of outcome: CacheCase.Outcome, _ asked: [OriginRequest], _ response: ReceivedResponse, _ place: Place
    ) -> [String] {
        let isNew = response["X-Step"] == "\(place.step)"
        switch outcome {
        case .any: return []
        case .reused: return asked.isEmpty ? [] : ["the origin was asked"]
        case .servedStale: return isNew ? ["what is new came"] : []
        case .forwarded:
            guard let request = asked.first else { return ["the origin was not asked"] }
            return request["If-None-Match"] == nil || isNew ? [] : ["what was stored came, though forwarded"]
        case .validated(let name), .replaced(let name):
            guard let request = asked.first else { return ["the origin was not asked"] }
            if request[name] == nil { return ["asked without \(name)"] }
            let bringsNew = if case .replaced = outcome { true } else { false }
            return (response.text == "step \(place.step)") == bringsNew ? [] : ["the body is \(response.text.prefix(40))"]
        case .validatedFor(let status):
            guard asked.count == 1, asked[0]["If-None-Match"] != nil else { return ["the origin was asked \(asked.count) times"] }
            return response.status == status ? [] : ["status \(response.status)"]
        case .askedAgain(let name):
            guard asked.count == 2, asked[0][name] != nil, asked[1][name] == nil else {
                return ["asked \(asked.count) times, with \(asked.map { $0[name] ?? "none" })"]
            }
            return isNew ? [] : ["what was stored came"]
        }
    }
}

/// The case and the step of a request.
private struct Place: CustomStringConvertible {
    let number: Int
    let step: Int

    init(number: Int, step: Int) {
        self.number = number
        self.step = step
    }

    init?(_ text: String?) {
        let parts = (text ?? "").split(separator: ".").compactMap { Int($0) }
        guard parts.count == 2 else { return nil }
        self.init(number: parts[0], step: parts[1])
    }

    var description: String { "\(number).\(step)" }
}

/// The clock of the cases: the proxy's clock, moved ahead where a case needs time to pass.
///
/// Dates in field lines count from the case's start, so a validator is the same in each step.
private final class CaseClock: Sendable {
    private struct State {
        var passed: Int64 = 0
        var start = Date()
    }

    private let state = Guarded(State())

    func beginCase() { state.withLock { $0.start = Date(timeIntervalSinceNow: Double($0.passed)) } }

    func pass(seconds: Int64) { state.withLock { $0.passed += seconds } }

    /// The Date field of a response sent now.
    var date: String { Self.text(Date(timeIntervalSinceNow: Double(state.withLock { $0.passed }))) }

    func resolved(_ line: String) -> String {
        guard let open = line.firstIndex(of: "{"), let close = line[open...].firstIndex(of: "}"),
            let offset = Int(line[line.index(after: open)..<close])
        else { return line }
        let date = state.withLock { $0.start.addingTimeInterval(Double(offset)) }
        return line[..<open] + Self.text(date) + line[line.index(after: close)...]
    }

    private static func text(_ date: Date) -> String {
        let form = DateFormatter()
        form.locale = Locale(identifier: "en_US_POSIX")
        form.timeZone = TimeZone(identifier: "GMT")
        form.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return form.string(from: date)
    }
}

extension OriginConnection {
    /// Sends a 304 if the step expects a validation and the request has the condition.
    fileprivate func send(
        _ answer: CacheCase.Answer, to request: OriginRequest, at place: Place, outcome: CacheCase.Outcome, _ clock: CaseClock
    ) -> Bool {
        var status = answer.status
        switch outcome {
        case .validated(let name), .askedAgain(let name): if request[name] != nil { status = 304 }
        case .validatedFor: if request["If-None-Match"] != nil { status = 304 }
        default: break
        }
        let lines = answer.fields.map { clock.resolved($0.replacing("{self}", with: "/\(place.number)")) }
        let names = Set(lines.map { $0.prefix { $0 != ":" }.lowercased() })
        var head = "HTTP/1.1 \(status) As-Told\r\nX-Step: \(place.step)\r\n"
        if !names.contains("date") { head += "Date: \(clock.date)\r\n" }
        for line in lines where line != "Date: none" { head += line + "\r\n" }
        let hasContent = status != 204 && status != 304
        let body = hasContent ? answer.body ?? "step \(place.step)" : ""
        if hasContent, !names.contains("content-length") { head += "Content-Length: \(body.utf8.count)\r\n" }
        return send(head + "\r\n" + (request.method == "HEAD" ? "" : body))
    }
}

extension ReceivedResponse {
    fileprivate func bears(_ line: String) -> Bool { CacheStageLine(line).stands(in: lines) }

    fileprivate func tells(_ member: String) -> Bool {
        let said = values("Cache-Status").last ?? ""
        func ttl(_ text: String) -> Int? { text.firstMatch(of: /ttl=(-?[0-9]+)/).flatMap { Int($0.1) } }
        guard let expected = ttl(member) else { return said == "Larder; \(member)" }
        return (0...5).contains { said == "Larder; \(member.replacing("ttl=\(expected)", with: "ttl=\(expected - $0)"))" }
    }
}

extension OriginRequest {
    fileprivate func bears(_ line: String) -> Bool { CacheStageLine(line).stands(in: lines) }
}

private struct CacheStageLine {
    let name: Substring
    let value: Substring

    init(_ line: String) {
        let parts = line.split(separator: ":", maxSplits: 1)
        name = parts[0]
        value = parts[1].drop { $0 == " " }
    }

    func stands(in lines: [(name: String, value: String)]) -> Bool {
        lines.contains { $0.name.lowercased() == name.lowercased() && ($0.value == value || isLater($0.value)) }
    }

    /// Whether the other value is an age that is up to five seconds more, which a slow machine causes.
    private func isLater(_ other: String) -> Bool {
        guard name.lowercased() == "age", let expected = Int(value), let age = Int(other) else { return false }
        return (expected...(expected + 5)).contains(age)
    }
}
