import Testing

@Suite("docs/life-of-a-request.md")
struct WalkTests {
    private struct Walk {
        let name: Substring
        let limit: Int
        var steps: [Substring] = []
    }

    /// The lists under headings such as "### A hit (at most 15 files)".
    private static let walks: [Walk] = {
        var walks: [Walk] = []
        for line in Repository.files(below: "docs/life-of-a-request.md").flatMap(\.lines) {
            if let heading = line.wholeMatch(of: /### (.+) \(at most (\d+) files\)/) {
                walks.append(Walk(name: heading.1, limit: Int(heading.2) ?? 0))
            } else if line.prefixMatch(of: /\d+\. `/) != nil, !walks.isEmpty {
                walks[walks.count - 1].steps.append(line)
            }
        }
        return walks
    }()

    @Test("Each walk is as short as its heading says, and numbers its files in order")
    func isShort() {
        #expect(Self.walks.count == 4)
        for walk in Self.walks {
            let numbers = walk.steps.compactMap { Int($0.prefix { $0 != "." }) }
            guard let first = numbers.first, let last = numbers.last else {
                Issue.record("\(walk.name): no files")
                continue
            }
            #expect(numbers == Array(first...last) && last <= walk.limit, "\(walk.name)")
        }
    }

    @Test("Each file of a walk exists and has the functions that the walk names")
    func namesWhatIsThere() {
        let files = Dictionary(grouping: Repository.sources) { String($0.path.split(separator: "/").last ?? "") }
        for walk in Self.walks {
            for step in walk.steps {
                let (file, functions) = Self.names(in: step)
                guard let found = files[file], found.count == 1 else {
                    Issue.record("\(walk.name): \(files[file]?.count ?? 0) files are called \(file)")
                    continue
                }
                for function in functions
                where !found[0].lines.contains(where: { $0.contains("func \(function)(") || $0.contains("func \(function)<") }) {
                    Issue.record("\(walk.name): no function \(function) in \(found[0])")
                }
            }
        }
    }

    /// The file of a step, and the functions that the step names.
    private static func names(in step: Substring) -> (file: String, functions: [String]) {
        let quoted = step.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
        let functions = quoted.dropFirst().filter { $0.wholeMatch(of: /[a-z]\w*/) != nil && !isNotAFunction.contains($0) }
        return (quoted.first ?? "", functions)
    }

    /// The name of a thread, which has the same form.
    private static let isNotAFunction: Set = ["replay"]

    @Test(
        "The step reader distinguishes functions from other words",
        arguments: [
            ("1. `A.swift`: `read` and `write` of `Age`", ["read", "write"]), ("2. `B+C.swift`: by `tunnel.ports`", []),
            ("3. `D.swift`: the thread `replay`", []),
        ])
    func readsSteps(step: String, functions: [String]) { #expect(Self.names(in: step[...]).functions == functions) }
}
