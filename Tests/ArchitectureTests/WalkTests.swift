import Testing

@Suite("docs/life-of-a-request.md")
struct WalkTests {
    private static let walks = Walk.all(in: Repository.files(below: "docs/life-of-a-request.md").flatMap(\.lines))

    @Test("Each walk has as many files as its heading says, and numbers its steps in order")
    func hasTheFilesOfItsHeading() {
        #expect(Self.walks.count == 4)
        for walk in Self.walks {
            let first = walk.sharedCount + 1
            #expect(!walk.steps.isEmpty, "\(walk.name)")
            #expect(walk.steps.map(\.number) == Array(first..<first + walk.steps.count), "\(walk.name)")
            let shared = Self.walks[0].steps.prefix(walk.sharedCount).map(\.text)
            var files: Set<String> = []
            for text in shared + walk.steps.map(\.text) {
                let named = Names(in: text)
                files.formUnion(named.files)
                for method in named.methods { files.formUnion(Self.files(of: method)) }
            }
            #expect(files.count == walk.fileCount, "\(walk.name): \(files.sorted())")
        }
    }

    @Test("Each file of a walk exists and has the functions that the walk names")
    func namesWhatIsThere() {
        let files = Dictionary(grouping: Repository.sources) { Self.name(of: $0) }
        for walk in Self.walks {
            for text in walk.steps.map(\.text) + [walk.beside] {
                let named = Names(in: text)
                var found: [Repository.SourceFile] = []
                for file in named.files {
                    let sources = files[file] ?? []
                    if sources.count != 1 { Issue.record("\(walk.name): \(sources.count) files are called \(file)") }
                    found += sources
                }
                for function in named.functions where !found.contains(where: { Self.has(function, in: $0) }) {
                    Issue.record("\(walk.name): no function \(function) in \(named.files)")
                }
                for method in named.methods where Self.files(of: method).isEmpty {
                    Issue.record("\(walk.name): no function \(method.function) of \(method.type)")
                }
            }
        }
    }

    @Test(
        "The step reader distinguishes files, functions, methods and other words",
        arguments: [
            ("1. `A.swift`: `read` and `write` of `Age`", Names(files: ["A.swift"], functions: ["read", "write"])),
            ("2. `B+C.swift`: by `tunnel.ports`", Names(files: ["B+C.swift"])),
            ("3. `D.swift` (`E.swift`): the thread `replay`", Names(files: ["D.swift", "E.swift"])),
            ("4. `F.swift`: as `G.go` does", Names(files: ["F.swift"], methods: [Method(type: "G", function: "go")])),
        ])
    func readsSteps(step: String, names: Names) { #expect(Names(in: step) == names) }

    @Test(
        "A walk includes continuation lines, the steps shared with the first walk, and the files that it names as also involved")
    func readsWalks() {
        let text = """
            ### A hit (2 files)

            Files 1 to 3 of a hit, then:

            4. `A.swift`: `read`
               (`B.swift`).
            5. `C.swift`.

            Also involved: `D.swift`,
            and `E.swift`.

            `F.swift`
            ## Next
            1. `G.swift`
            """
        let walks = Walk.all(in: text.split(separator: "\n", omittingEmptySubsequences: false))
        #expect(walks.count == 1)
        #expect(walks.first?.fileCount == 2)
        #expect(walks.first?.sharedCount == 3)
        #expect(walks.first?.steps.map(\.number) == [4, 5])
        #expect(walks.first?.steps.first.map { Names(in: $0.text).files } == ["A.swift", "B.swift"])
        #expect(walks.first.map { Names(in: $0.beside).files } == ["D.swift", "E.swift"])
    }

    // MARK: Sources

    private static func name(of file: Repository.SourceFile) -> String { String(file.path.split(separator: "/").last ?? "") }

    private static func has(_ function: String, in file: Repository.SourceFile) -> Bool {
        file.lines.contains { $0.contains("func \(function)(") || $0.contains("func \(function)<") }
    }

    /// The names of the type's files that have the function.
    private static func files(of method: Method) -> [String] {
        Repository.sources
            .filter { source in
                let name = name(of: source)
                return (name == "\(method.type).swift" || name.hasPrefix("\(method.type)+")) && has(method.function, in: source)
            }
            .map { name(of: $0) }
    }

    // MARK: The page

    /// A list under a heading such as "### A hit in memory (15 files)".
    private struct Walk {
        let name: String
        let fileCount: Int
        /// The number of files of the first walk that come before the list.
        var sharedCount = 0
        var steps: [Step] = []
        /// The paragraph of files that a reader need not open. They do not count.
        var beside = ""

        struct Step {
            let number: Int
            var text: String
        }

        static func all(in lines: [Substring]) -> [Walk] {
            enum Part { case none, step, beside }
            var walks: [Walk] = []
            var isInside = false
            var part = Part.none
            for line in lines {
                if line.hasPrefix("#") {
                    let heading = line.wholeMatch(of: /### (.+) \((\d+) files\)/)
                    isInside = heading != nil
                    part = .none
                    if let heading { walks.append(Walk(name: String(heading.1), fileCount: Int(heading.2) ?? 0)) }
                    continue
                }
                guard isInside else { continue }
                let last = walks.count - 1
                if let step = line.prefixMatch(of: /(\d+)\.\s/) {
                    walks[last].steps.append(Step(number: Int(step.1) ?? 0, text: String(line)))
                    part = .step
                } else if let shared = line.prefixMatch(of: /Files 1 to (\d+) of a hit/) {
                    walks[last].sharedCount = Int(shared.1) ?? 0
                    part = .none
                } else if line.hasPrefix("Also involved:") {
                    walks[last].beside = String(line)
                    part = .beside
                } else if line.isEmpty {
                    part = .none
                } else {
                    switch part {
                    case .none: break
                    case .step: walks[last].steps[walks[last].steps.count - 1].text += " \(line)"
                    case .beside: walks[last].beside += " \(line)"
                    }
                }
            }
            return walks
        }
    }

    /// A function with its type, such as `ExchangeDriver.execute`.
    struct Method: Equatable, Sendable {
        let type: String
        let function: String
    }

    /// The quoted names of a step.
    struct Names: Equatable, Sendable {
        var files: [String] = []
        var functions: [String] = []
        var methods: [Method] = []

        init(files: [String] = [], functions: [String] = [], methods: [Method] = []) {
            self.files = files
            self.functions = functions
            self.methods = methods
        }

        init(in text: String) {
            for (index, part) in text.split(separator: "`", omittingEmptySubsequences: false).enumerated() where index % 2 == 1 {
                if part.hasSuffix(".swift") {
                    files.append(String(part))
                } else if let method = part.wholeMatch(of: /([A-Z]\w*)\.([a-z]\w*)/) {
                    methods.append(Method(type: String(method.1), function: String(method.2)))
                } else if part.wholeMatch(of: /[a-z]\w*/) != nil, !Self.isNotAFunction.contains(String(part)) {
                    functions.append(String(part))
                }
            }
        }

        /// Names of a thread and of events, which have the same form.
        private static let isNotAFunction: Set = ["replay", "lookedUp", "deliveryEnded", "upstreamHead"]
    }
}
