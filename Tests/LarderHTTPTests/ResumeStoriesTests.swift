import Foundation
import TestSupport
import Testing

@testable import LarderHTTP

/// Two hundred runs with an origin that breaks off, changes its entity and sends wrong ranges, and a user who retries until the
/// file is complete.
@Suite("HTTPSession: downloads with random faults")
struct ResumeStoriesTests {
    @Test(
        "The result is always one complete entity, never a mixture, and no other file is left",
        arguments: 0..<200 as Range<UInt64>)
    func story(seed: UInt64) async throws {
        var dice = SeededGenerator(seed: seed)
        let length = 1 + dice.below(200_000)
        let entities = (0..<4).map {
            PatternBytes.make(max(1, length + ($0 == 3 ? dice.below(50) : 0)), seed: seed &* 7 &+ UInt64($0))
        }
        let tags = dice.chance(75) ? ["\"a\"", "\"b\"", "\"c\"", "\"d\""] : ["W/\"a\"", "", "W/\"c\"", "\"d\""]
        let faults = 1 + dice.below(8)
        let steps = (0..<faults).map { _ in Self.fault(&dice, length, entities, tags) }
        let origin = PartialOrigin(entities[0], entityTag: tags[0]) { number in number <= steps.count ? steps[number - 1] : .serve
        }
        defer { origin.stop() }
        let folder = try TemporaryFolder()
        let request = SessionRequest(.get, origin.uri)
        var token: ResumeToken?
        for call in 0..<20 {
            let tries = dice.below(3)
            let session = try DownloadTests.quick { $0.retries.limit = tries }
            do {
                let file = try await session.download(request, to: .file(folder.path("x")), resuming: token)
                #expect(file.length == UInt64(try #require(folder.read("x")).count))
                break
            } catch let error as SessionError {
                #expect(folder.read("x") == nil, "seed \(seed), call \(call)")
                #expect(
                    [.incompleteResponse, .unacceptableStatus, .malformedResponse, .resumeRejected].contains(error.code),
                    "\(error)")
                // An error with a token leaves its part file; an error without one leaves no file.
                #expect(folder.names.count == (error.resumeToken == nil ? 0 : 1))
                token = error.resumeToken
                if let token { #expect(folder.read(folder.names[0])?.count == Int(token.length)) }
            }
        }
        let result = try #require(folder.read("x"), "seed \(seed): lost")
        #expect(entities.contains(result), "seed \(seed): mixed")
        #expect(folder.names == ["x"])
    }

    private static func fault(
        _ dice: inout SeededGenerator, _ length: Int, _ entities: [[UInt8]], _ tags: [String]
    ) -> PartialOrigin.Conduct {
        switch dice.below(13) {
        case 0...4: return .cut(at: dice.below(length))
        case 5: return .ignoreRange
        case 6: return .wrongStart(by: dice.chance(50) ? 1 : -1 - dice.below(100))
        case 7: return .wrongLength(by: dice.chance(50) ? 1 + dice.below(10) : -1)
        case 8: return .wrongTotal
        case 9: return .unsatisfiable(total: dice.chance(50) ? length : dice.below(length + 1))
        case 10:
            let next = dice.below(4)
            return .change(entities[next], entityTag: tags[next])
        case 11: return .silentChange(entities[dice.below(4)])
        default: return dice.chance(50) ? .short(of: 1 + dice.below(length)) : .refuse(dice.one(of: [404, 503, 500]))
        }
    }
}
