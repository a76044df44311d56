import PolicyTools
import TestSupport
import Testing

@Suite("What a learned policy allows")
struct LearnedPolicyPropertyTests {
    /// The requests of package managers, as their registries lay out URLs, for made-up projects.
    struct Layouts {
        var random: SeededGenerator

        mutating func word(_ length: ClosedRange<Int> = 4...9) -> String {
            String(
                (0..<(length.lowerBound + random.below(length.count))).map { _ in random.one(of: Array("abcdefghiklmnoprstuw")) })
        }

        mutating func digest(_ length: Int) -> String {
            "a1" + String((2..<length).map { _ in random.one(of: Array("0123456789abcdef")) })
        }

        mutating func version() -> String { "\(random.below(20)).\(random.below(30)).\(random.below(9))" }

        /// The requests for one project.
        mutating func requests(for project: String) -> [String] {
            let version = version()
            switch random.below(6) {
            case 0:
                return [
                    "GET https://pypi.example/simple/\(project)/",
                    "GET https://files.example/packages/\(digest(2))/\(digest(2))/\(digest(60))/\(project)-\(version)-py3-none-any.whl",
                ]
            case 1:
                return [
                    "GET https://npm.example/\(project)", "GET https://npm.example/\(project)/-/\(project)-\(version).tgz",
                    "GET https://npm.example/@scope%2f\(project)",
                ]
            case 2:
                return [
                    "GET https://cargo.example/\(project.prefix(2))/\(project.dropFirst(2).prefix(2))/\(project)",
                    "GET https://cargo.example/api/v1/crates/\(project)/\(version)/download",
                ]
            case 3:
                return ["list", "v\(version).info", "v\(version).mod", "v\(version).zip"].map {
                    "GET https://go.example/host.example/\(project)/@v/\($0)"
                }
            case 4:
                let project = "\(project).git"
                return [
                    "GET https://git.example/team/\(project)/info/refs?service=git-upload-pack",
                    "POST https://git.example/team/\(project)/git-upload-pack",
                ]
            default:
                let letter = project.prefix(1)
                return [
                    "GET http://deb.example/debian/dists/trixie/main/by-hash/SHA256/\(digest(64))",
                    "GET http://deb.example/debian/pool/main/\(letter)/\(project)/\(project)_\(version)-1_amd64.deb",
                ]
            }
        }
    }

    @Test("Every observed request is allowed, whatever its path", arguments: 1...30)
    func allowsWhatWasObserved(seed: UInt64) throws {
        var layouts = Layouts(random: SeededGenerator(seed: seed))
        var requests: [String] = []
        for _ in 0..<20 { requests += layouts.requests(for: layouts.word()) }
        let pieces = [
            "a", "%2f", "/", ".", "..", ";", "-1.2", "*", "%25", "%5c", "v3.1", "%41", "42", "{", "%2a", "\"", "'", ":", ",",
        ]
        for _ in 0..<30 {
            let path = (0..<layouts.random.below(8)).map { _ in layouts.random.one(of: pieces) }.joined()
            requests.append("GET https://odd.example/x/\(path)")
        }
        var traffic = ObservedTraffic()
        for request in requests {
            let words = request.split(separator: " ").map(String.init)
            traffic.add(ObservedRequest(method: words[0], url: words[1]), status: 200)
        }
        let limit = layouts.random.chance(50) ? nil : 1 + layouts.random.below(8)
        let stage = try LearnedStage(traffic, atMost: limit)
        let ambiguous = stage.policy.remarks.contains { $0.contains("can be interpreted in too many ways") }
        for request in requests where !(ambiguous && request.contains("odd.example")) {
            #expect(try stage.allows(request), "\(request)\n\(stage.text)")
        }
    }

    @Test("Other projects, methods, sibling paths and hosts are denied", arguments: 1...20)
    func deniesForeignRequests(seed: UInt64) throws {
        var layouts = Layouts(random: SeededGenerator(seed: seed))
        var observed: [String] = []
        for _ in 0..<12 { observed += layouts.requests(for: layouts.word()) }
        let stage = try LearnedStage(observed)
        var foreign: [String] = []
        for _ in 0..<20 {
            // A longer name is another project, also one that begins like an observed one.
            foreign += layouts.requests(for: layouts.word(10...14)).filter { !$0.contains("/by-hash/") }
        }
        for request in observed {
            let words = request.split(separator: " ").map(String.init)
            foreign.append("\(layouts.random.one(of: ["PUT", "DELETE", "PATCH", "OPTIONS"])) \(words[1])")
            let path = words[1].prefix { $0 != "?" }
            foreign.append("\(words[0]) \(path)\(path.hasSuffix("/") ? "" : "/")\(layouts.word())")
            foreign.append(
                "\(words[0]) \(words[1].replacing("example/", with: "example/\(layouts.word())/", maxReplacements: 1))")
            foreign.append(
                "\(words[0]) \(words[1].replacing(".example", with: ".\(layouts.word()).example", maxReplacements: 1))")
            foreign.append("\(words[0]) \(words[1].replacing(".example", with: ".example:8443", maxReplacements: 1))")
        }
        for request in foreign { #expect(try !stage.allows(request), "\(request)\n\(stage.text)") }
    }
}
