import Foundation
import TestSupport
import Testing

/// Requests that differ in one thing never share a response that is not shareable, one after the other or both at once.
/// A failure names its seed; LARDER_PAIRS_SEED=N runs that seed alone.
@Suite("Pairs of requests (T18 to T26)", .serialized)
struct SharedPairsTests {
    private static let pairsPerSeed = 250
    private static let seeds: [UInt64] = {
        let environment = ProcessInfo.processInfo.environment
        if let one = environment["LARDER_PAIRS_SEED"].flatMap({ UInt64($0) }) { return [one] }
        let count = environment["LARDER_PAIRS_SEEDS"].flatMap { UInt64($0) } ?? 4
        return Array(1...count)
    }()

    @Test("Responses that must not be shared are not shared", arguments: seeds)
    func pairs(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let stage = try Stage(RequestPair.settings, loops: seed % 2 == 0 ? 4 : 1) { request, connection in
            guard connection.readBody(of: request) != nil, let serial = request["X-Serial"] else { return false }
            let lines = request.values("X-Answer").map { $0 + "\r\n" }.joined()
            // Every part of the content names the request it was made for.
            let body = String(repeating: "[\(serial)]", count: 20)
            return connection.respond(fields: lines + "X-Made-For: \(serial)\r\n", body: body)
        }
        let clients = [try stage.client(), try stage.client()]
        var sharedCount = 0
        var shareableCount = 0
        for number in 0..<Self.pairsPerSeed {
            let pair = RequestPair(number: number, using: &generator)
            let answers = try ask(pair, number, stage, clients)
            for (index, answer) in answers.enumerated() {
                let serials = ["\(number).0", "\(number).1"]
                let madeFor = answer["X-Made-For"]
                let isFault = answer.status >= 400 && madeFor == nil
                #expect(!isFault, "\(answer.status) to \(pair)")
                if index == 1, pair.mayShare(into: index) { shareableCount += 1 }
                if madeFor == serials[index] || madeFor == nil { continue }
                sharedCount += 1
                #expect(madeFor == serials[1 - index], "an answer of another pair to \(pair)")
                #expect(pair.mayShare(into: index), "\(index == 0 ? "first" : "second") shares: \(pair)")
                let isPart = String(repeating: "[\(madeFor ?? "")]", count: 20).contains(answer.text)
                #expect(isPart, "the content is another's: \(pair)")
            }
        }
        // Otherwise the pairs prove nothing.
        #expect(sharedCount * 2 > shareableCount, "\(sharedCount) of \(shareableCount) that may be shared were")
    }

    private func ask(
        _ pair: RequestPair, _ number: Int, _ stage: Stage, _ clients: [RawClient]
    ) throws -> [ReceivedResponse] {
        let halves = [pair.first, pair.second]
        func send(_ index: Int) {
            let half = halves[index]
            let lines =
                half.fields + pair.answer.map { "X-Answer: \($0)" } + ["X-Serial: \(number).\(index)"]
                + (half.content.isEmpty ? [] : ["Content-Length: \(half.content.utf8.count)"])
            let fields = lines.map { $0 + "\r\n" }.joined()
            clients[index].send(stage.head(half.method, half.path, host: half.host, fields: fields) + half.content)
        }
        if pair.isTogether {
            for index in 0..<2 { send(index) }
            return try (0..<2).map { try clients[$0].readResponse(to: halves[$0].method) }
        }
        return try (0..<2).map { index in
            send(index)
            return try clients[index].readResponse(to: halves[index].method)
        }
    }
}
