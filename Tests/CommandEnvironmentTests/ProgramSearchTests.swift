import Foundation
import TestSupport
import Testing

@testable import CommandEnvironment

@Suite("Finding a program")
struct ProgramSearchTests {
    @Test("The first executable file in PATH is found; a file that is not executable gives a different error than a missing file")
    func looks() throws {
        let folder = try TemporaryFolder()
        for (name, mode) in [("a/tool", 0o644), ("b/tool", 0o755), ("c/tool", 0o755), ("a/text", 0o644)] {
            chmod(try folder.write("", to: name), mode_t(mode))
        }
        let path = ["a", "b", "c"].map { "\(folder.path)/\($0)" }.joined(separator: ":")
        #expect(ProgramSearch("tool", path: path) == .found("\(folder.path)/b/tool"))
        #expect(ProgramSearch("text", path: path) == .notExecutable)
        #expect(ProgramSearch("nothing", path: path) == .missing)
        #expect(ProgramSearch("", path: path) == .missing)
        #expect(ProgramSearch("\(folder.path)/c/tool", path: nil) == .found("\(folder.path)/c/tool"))
        #expect(ProgramSearch("\(folder.path)/b", path: nil) == .notExecutable)
        #expect(ProgramSearch("sh", path: nil) == .found("/usr/bin/sh") || ProgramSearch("sh", path: nil) == .found("/bin/sh"))
        #expect(ProgramSearch("nothing-here", path: ":/nonexistent") == .missing)
    }
}
