import Foundation
import TestSupport
import Testing

@testable import Downloads
@testable import LarderCLI

@Suite("File names of larder fetch")
struct FetchNamesTests {
    /// Each URL's content is its target. The first URLs respond last.
    private static func origin(_ name: String? = nil) -> FetchOrigin {
        let isLate = WaitingTurns()
        return FetchOrigin { _, request in
            if request.target.hasPrefix("/first") { isLate.wait() } else { isLate.signal() }
            var manner = FetchOrigin.Manner(body: Array(request.target.utf8), fields: "Cache-Control: no-store\r\n")
            if let name { manner.fields += "Content-Disposition: attachment; filename=\"\(name)\"\r\n" }
            return manner
        }
    }

    @Test("Two lines with the same name are refused before anything is fetched, with the places of both")
    func refusesTwoOfOneName() throws {
        let origin = Self.origin()
        let stage = try FetchStage()
        let list = try stage.folder.write("\(origin.url)/a out=x\n\n# note\n\(origin.url)/b   out=x\n", to: "list")
        let outcome = try stage.fetch("-i", list)
        #expect(outcome.code == 2)
        #expect(
            outcome.talk == "larder: \(list):4:\(origin.url.count + 6): line 1 already uses the file name 'x'\n", "\(outcome)")
        let again = try stage.folder.write(
            "  \(origin.url)/a?k=s3cret\n\(origin.url)/b\n  \(origin.url)/a?k=s3cret\n", to: "again")
        let refused = try stage.fetch("-i", again)
        #expect(refused.code == 2)
        #expect(
            refused.talk == "larder: \(again):3:3: line 1 already fetches \(origin.url)/a to the same file\n", "\(refused)"
        )
        let twice = try stage.fetch("\(origin.url)/a", "\(origin.url)/a")
        #expect(twice.code == 2)
        #expect(
            twice.talk == "larder: the command line already fetches \(origin.url)/a to the same file\n", "\(twice)")
        #expect(origin.requests.isEmpty)
        #expect(try stage.names().isEmpty)
    }

    @Test(
        "If two URLs end with the same name, the second becomes name.1, in any order of responses; with --overwrite too",
        arguments: [[], ["--overwrite"]])
    func numbersWhatURLsEndWith(options: [String]) throws {
        let origin = Self.origin()
        let stage = try FetchStage()
        let list = try stage.folder.write("\(origin.url)/first/a.csv\n\(origin.url)/second/a.csv\n", to: "list")
        let outcome = try CommandLineTests.larder(
            ["fetch", "-d", stage.files, "-i", list] + options, environment: stage.user)
        #expect(outcome.code == 0 && outcome.talk.contains("a.csv.1: "), "\(outcome)")
        #expect(stage.content("a.csv") == Array("/first/a.csv".utf8))
        #expect(stage.content("a.csv.1") == Array("/second/a.csv".utf8))
        #expect(try stage.names() == ["a.csv", "a.csv.1"])
    }

    @Test("Names that responses suggest do not collide either; with --overwrite too", arguments: [[], ["--overwrite"]])
    func numbersWhatResponsesSuggest(options: [String]) throws {
        let origin = Self.origin("same.bin")
        let stage = try FetchStage()
        let urls = ["/first", "/second", "/third"].map { origin.url + $0 }
        let outcome = try CommandLineTests.larder(["fetch", "-d", stage.files] + options + urls, environment: stage.user)
        #expect(outcome.code == 0, "\(outcome)")
        let names = ["same.bin", "same.bin.1", "same.bin.2"]
        #expect(try stage.names() == names)
        let contents = Set(names.compactMap { stage.content($0).map { String(decoding: $0, as: UTF8.self) } })
        #expect(contents == ["/first", "/second", "/third"])
    }

    @Test("A name in a list belongs to its line, even if another URL ends with it; existing files stay")
    func prefersWhatIsSaid() throws {
        let origin = Self.origin()
        let stage = try FetchStage()
        let list = try stage.folder.write("\(origin.url)/a\n\(origin.url)/second out=a\n", to: "list")
        #expect(try stage.fetch("-i", list).code == 0)
        #expect(stage.content("a") == Array("/second".utf8))
        #expect(stage.content("a.1") == Array("/a".utf8))
        let again = try stage.fetch("-i", list)
        #expect(again.code == 3 && again.talk.contains("a.1 already exists"), "\(again)")
        #expect(try stage.names() == ["a", "a.1"])
    }

    @Test("Many files with the same suggested name each get their own, without a long search")
    func numbersMany() throws {
        let items = try (0..<20_000).map { try FetchItem("http://127.0.0.1/\($0)/x") }
        let names = FetchNames(items)
        let claimed = items.indices.map { names.claim("x", for: $0) }
        #expect(claimed[0] == "x" && claimed[1] == "x.1" && claimed.last == "x.19999" && Set(claimed).count == items.count)
        // A response that suggests a different name releases it.
        #expect(names.claim("y", for: 0) == "y" && names.claim("y", for: 0) == "y" && names.claim("x", for: 0) != "x.1")
    }
}

/// Makes the first wait for another, for at most a minute.
private final class WaitingTurns: Sendable {
    private let others = DispatchSemaphore(value: 0)
    func wait() { _ = others.wait(timeout: .now() + .seconds(Deadline.seconds)) }
    func signal() { others.signal() }
}
