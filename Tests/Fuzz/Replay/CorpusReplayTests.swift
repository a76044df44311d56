import Foundation
import FuzzTargets
import Testing

@Suite("The corpus of the fuzzers")
struct CorpusReplayTests {
    @Test("Every input in the corpus still satisfies its fuzz target", arguments: FuzzTarget.all.map(\.name))
    func replays(name: String) throws {
        let target = try #require(FuzzTarget.all.first { $0.name == name })
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Corpus/\(name)").standardized
        let inputs = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!inputs.isEmpty && inputs.count < 600, "the corpus is kept small; see Tests/Fuzz/README.md")
        for input in inputs {
            let fault = try target.check(Array(Data(contentsOf: input)))
            #expect(fault == nil, "\(name)/\(input.lastPathComponent)")
        }
    }
}
