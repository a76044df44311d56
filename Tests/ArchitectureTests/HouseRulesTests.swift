import Testing

@Suite("House rules")
struct HouseRulesTests {
    static let escapes = ["@unchecked Sendable", "nonisolated(unsafe)", "Unmanaged"]

    @Test("What escapes the compiler's checks stands on the list, and nothing stands there in vain", arguments: Repository.rooms)
    func escapesAreListed(room: String) {
        let files = Repository.sources.filter { $0.room == room }
        for file in files {
            let used = file.code.filter { line in Self.escapes.contains { line.text.contains($0) } }
            if FloorPlan.permittedEscapes[file.path] == nil {
                for line in used { Issue.record("\(file):\(line.number): not on the list: \(line.text)") }
            } else {
                #expect(!used.isEmpty, "\(file) stands on the list and uses none of it")
            }
        }
        let paths = Set(files.map(\.path))
        for path in FloorPlan.permittedEscapes.keys where path.hasPrefix("Sources/\(room)/") {
            #expect(paths.contains(path), "\(path) stands on the list and is not there")
        }
    }

    @Test("Only the command line prints", arguments: Repository.rooms.filter { $0 != "LarderCLI" && $0 != "larder" })
    func onlyTheCommandLinePrints(room: String) {
        for file in Repository.sources where file.room == room {
            for (number, line) in file.code where line.contains("print(") || line.contains("dump(") {
                #expect(!line.contains(/(^|[^\w.])(print|debugPrint|dump)\(/), "\(file):\(number): \(line)")
            }
        }
    }

    /// ThreadSanitizer does not see into `Mutex`'s library: `Guarded` tells it. Nothing else locks, but for `Monitor`, on which
    /// threads wait.
    @Test("One type locks: Guarded", arguments: ["Sources", "Tests"])
    func locksOneWay(place: String) {
        // Put together here, so that this file does not find itself.
        let locks = ["Mut" + "ex<", "Mut" + "ex(", "NSL" + "ock", "pthread_mut" + "ex_lock", "pthread_rwl" + "ock"]
        let permitted = ["Sources/EventLoop/Guarded.swift", "Sources/ResponseStore/Threads/Monitor.swift"]
        for file in Repository.files(below: place) where file.path.hasSuffix(".swift") && !permitted.contains(file.path) {
            for (number, line) in file.code where locks.contains(where: { line.contains($0) }) {
                Issue.record("\(file):\(number): not by Guarded: \(line)")
            }
        }
    }

    @Test("Nothing names a path of one machine")
    func namesNoMachine() {
        // Put together here, so that this file does not find itself.
        let forbidden = ["/ro" + "ot/", "/wo" + "rk/", "/opt/" + "swift"]
        let places = [
            "Sources", "Tests", "docs", "docker", "config", "scripts", ".ci", "Makefile", "Package.swift", "README.md",
            "CONTRIBUTING.md", "CHANGELOG.md",
        ]
        for file in places.flatMap(Repository.files(below:)) {
            for (index, line) in file.lines.enumerated() {
                for path in forbidden where line.contains(path) {
                    Issue.record("\(file):\(index + 1): \(line)")
                }
            }
        }
    }

    @Test("A long file is a question for review, not a failure", arguments: Repository.rooms)
    func asksAboutLongFiles(room: String) {
        for file in Repository.sources where file.room == room && file.lines.count > 450 {
            Issue.record("\(file) has \(file.lines.count) lines: what second idea is inside?", severity: .warning)
        }
    }
}
