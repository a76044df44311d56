import Testing

@Suite("Rules for all sources")
struct HouseRulesTests {
    static let escapes = ["@unchecked Sendable", "nonisolated(unsafe)", "Unmanaged"]

    @Test(
        "The list of files that disable compiler checks is complete, and names no other file",
        arguments: Repository.modules)
    func escapesAreListed(module: String) {
        let files = Repository.sources.filter { $0.module == module }
        for file in files {
            let used = file.code.filter { line in Self.escapes.contains { line.text.contains($0) } }
            if ModuleTable.permittedEscapes[file.path] == nil {
                for line in used { Issue.record("\(file):\(line.number): not on the list: \(line.text)") }
            } else {
                #expect(!used.isEmpty, "\(file) stands on the list and uses none of it")
            }
        }
        let paths = Set(files.map(\.path))
        for path in ModuleTable.permittedEscapes.keys where path.hasPrefix("Sources/\(module)/") {
            #expect(paths.contains(path), "\(path) stands on the list and is not there")
        }
    }

    @Test("Only the command-line module prints", arguments: Repository.modules.filter { $0 != "LarderCLI" && $0 != "larder" })
    func onlyTheCommandLinePrints(module: String) {
        for file in Repository.sources where file.module == module {
            for (number, line) in file.code where line.contains("print(") || line.contains("dump(") {
                #expect(!line.contains(/(^|[^\w.])(print|debugPrint|dump)\(/), "\(file):\(number): \(line)")
            }
        }
    }

    /// ThreadSanitizer does not instrument the library of `Mutex`, so `Guarded` reports its lock. Only `Monitor` also locks, because
    /// threads wait on it.
    @Test("Guarded is the only type that locks", arguments: ["Sources", "Tests"])
    func locksOneWay(place: String) {
        // Each word is written in two parts, so that this search does not find itself.
        let locks = ["Mut" + "ex<", "Mut" + "ex(", "NSL" + "ock", "pthread_mut" + "ex_lock", "pthread_rwl" + "ock"]
        let permitted = ["Sources/EventLoop/Guarded.swift", "Sources/ResponseStore/Threads/Monitor.swift"]
        for file in Repository.files(below: place) where file.path.hasSuffix(".swift") && !permitted.contains(file.path) {
            for (number, line) in file.code where locks.contains(where: { line.contains($0) }) {
                Issue.record("\(file):\(number): not by Guarded: \(line)")
            }
        }
    }

    /// A test waits for an event, or polls with `eventually`. It never sleeps for a time that was long enough so far.
    @Test("Exactly the listed test files sleep")
    func nothingSleeps() {
        let files = Repository.files(below: "Tests").filter { file in
            file.path.hasSuffix(".swift")
                && !["Tests/ArchitectureTests/", "Tests/Performance/"].contains { file.path.hasPrefix($0) }
        }
        for file in files {
            let sleeps = file.code.filter { Self.sleeps($0.text) }
            if ModuleTable.permittedSleeps[file.path] == nil {
                for line in sleeps { Issue.record("\(file):\(line.number): sleeps, and is not on the list: \(line.text)") }
            } else {
                #expect(!sleeps.isEmpty, "\(file) stands on the list and does not sleep")
            }
        }
        let paths = Set(files.map(\.path))
        for path in ModuleTable.permittedSleeps.keys {
            #expect(paths.contains(path), "\(path) stands on the list and is not there")
        }
    }

    @Test(
        "The search for sleeps finds every spelling, in Swift and in the shell",
        arguments: [
            ("usleep(10)", true), ("try await Task.sleep(for: .seconds(1))", true), ("Thread.sleep(forTimeInterval: 1)", true),
            ("until test -s port; do sleep 0.02; done", true), ("by: \"sleep \\(seconds)\"", true), ("sleep $seconds", true),
            ("statistics.sleepers == 1", false), ("the loop sleeps", false), ("func sleepsMeanwhile() {", false),
        ])
    func seesSleeps(line: String, isOne: Bool) { #expect(Self.sleeps(line[...]) == isOne) }

    /// `sleep` at the end of a called function's name, or as a shell command with a time.
    private static func sleeps(_ line: Substring) -> Bool {
        guard line.contains("sleep") else { return false }
        return line.contains(/sleep(\(| +[0-9$\\])/)
    }

    @Test("No file contains a path of one machine")
    func namesNoMachine() {
        // Each word is written in two parts, so that this search does not find itself.
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

    /// The driver informs an exchange by events, which carry their data.
    @Test("Outside ProxyCore only the parser changes an exchange: it writes the request's head")
    func exchangeIsSetByEvents() {
        let files = Repository.sources.filter { $0.path.hasPrefix("Sources/ProxyCore/Exchange") }
        var settable: [String] = []
        for file in files
        where ["/Exchange.swift", "/ExchangeState.swift"].contains(where: file.path.hasSuffix) || file.path.contains("/Exchange+")
        {
            for (_, line) in file.code where line.contains("package var ") && !line.contains("{") {
                settable.append(String(line.drop { $0 == " " }))
            }
        }
        #expect(settable == ["package var request = RequestHead()"])
        for file in Repository.sources where file.module != "ProxyCore" {
            // Regular expressions are slow in a debug build, and few lines need one.
            for (number, line) in file.code where line.contains("exchange.note") {
                #expect(!line.contains(/exchange\.note[A-Z]/), "\(file):\(number): \(line)")
            }
        }
    }

    /// ProxyCore makes the decisions about HTTP. `FaultMapping` and `UpstreamRequest+Exchange` translate between modules.
    @Test("The driver names no status, method, field or directive", arguments: driver)
    func driverNamesNoHTTP(path: String) {
        for file in Repository.sources where file.path == path {
            for (number, line) in file.code {
                let names = line.contains(/\b(Status|Method|FieldName|CacheControl|(Request|Response)Directives|HopByHop)\b/)
                let numbers = line.contains(/\b[1-5]\d\d\b/)
                let reads = line.contains(/\b(request|response|head)\.(method|status|fields)\b/)
                #expect(!names && !numbers && !reads, "\(file):\(number): \(line)")
            }
        }
    }

    /// The files of the driver and of its parts.
    private static let driver = Repository.sources.map(\.path).filter { path in
        ["Exchange", "Recording"].contains { path.hasPrefix("Sources/ProxyServer/\($0)/") }
    }

    /// A type in more files than that has parts with states of their own.
    @Test(
        "No type is spread over more than eight files",
        arguments: ["Exchange", "ExchangeDriver", "LoopWorker", "ClientConnection", "UpstreamExchange"])
    func typesStandTogether(type: String) throws {
        let declaration = try Regex(
            "^(package |public |final |private |fileprivate )*(class|struct|enum|actor|extension) \(type)\\b(?!\\.)")
        // `LarderHTTP` has its own exchange.
        let files = Repository.sources.filter { file in
            file.module != "LarderHTTP" && file.code.contains { $0.text.contains(type) && $0.text.contains(declaration) }
        }
        #expect((1...8).contains(files.count), "\(type) stands in \(files.map(\.path))")
    }

    @Test("A file of more than 450 lines is a warning, not a failure", arguments: Repository.modules)
    func asksAboutLongFiles(module: String) {
        for file in Repository.sources where file.module == module && file.lines.count > 450 {
            Issue.record("\(file) has \(file.lines.count) lines: what second idea is inside?", severity: .warning)
        }
    }
}
