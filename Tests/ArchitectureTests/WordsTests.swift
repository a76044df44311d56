import Testing

/// Tokens that Larder writes to Cache-Status, Proxy-Status, errors and logs without escapes.
@Suite("Tokens that clients receive")
struct WordsTests {
    /// The literals of every `word`, `reason` and `forwardToken` of the sources, with their file.
    private static let words = Repository.sources.flatMap(words(in:))

    private static let openings = ["word", "reason", "forwardToken"].map { "var \($0): StaticString {" }

    private static func words(in file: Repository.SourceFile) -> [(word: String, place: String)] {
        var words: [(word: String, place: String)] = []
        var isInside = false
        for line in file.lines {
            if openings.contains(where: line.hasSuffix) { isInside = true }
            if line.hasPrefix("    }") { isInside = false }
            if isInside, let literal = line.firstMatch(of: /"([^"]*)"/) { words.append((String(literal.1), file.path)) }
        }
        return words
    }

    /// Retired names of types, settings and files. The list of renamed settings, the former name of the store's file and the changelog
    /// still contain them.
    private static let formerNames: Set<String> = [
        "Filling", "FillingPlan", "FillingState", "FillingRun", "FillingReader", "FillingOutcome", "SecurePorch",
        "TunnelEntrance", "HelloGate", "LeafShelf", "VariantShelf", "AccessLogShelf", "AccessLogBell", "LyingBytes",
        "RecordingDesk", "RecordingTape", "Recollection", "Rehearsal", "RecordingLayers", "LayerReader", "Whereabouts", "Ballast",
        "FileBeneath", "MemoryHand", "MemoryKeeper", "StoreMoment", "CacheMoment", "isOvertaken", "ExchangeLink", "WireCall",
        "WireExchange", "TransferRun", "DownloadRun", "ChallengeBook", "ExchangeBook", "TurnQueue", "SingleFileQueue",
        "ConnectorNudge",
        "ConnectorTurn", "ConnectorKick", "EarlyConnection", "KeptVerdicts", "verdicts_kept", "unattended", "attachToNobody",
        "chooseMade",
        "sendMade", "vouchedFor", "FormerVariables", "GivenText", "GivenState", "GivenLimits", "GivenSignals", "SeenRun",
        "JoinedLarder",
        "PrivateLarder", "FetchWay", "FetchOutlet", "TrustSite", "TrustRemark", "RecordingsInForce", "SettingsInForce",
        "TrustInForce",
    ]
    private static let mayNameThem = [
        "Sources/LarderSettings/Settings/RenamedSetting.swift", "Tests/LarderSettingsTests/SettingsSourcesTests.swift",
        "Tests/ArchitectureTests/WordsTests.swift", "docs/configuration.md",
    ]

    @Test("A retired name is not used again", arguments: ["Sources", "Tests", "docs"])
    func keepsNames(place: String) {
        for file in Repository.files(below: place) where !Self.mayNameThem.contains(file.path) {
            guard file.path.hasSuffix(".swift") || file.path.hasSuffix(".md") else { continue }
            for (number, line) in file.lines.enumerated() {
                let words = line.utf8.split { !(Self.isLetter($0) || $0 == UInt8(ascii: "_")) }
                for word in words where word.count > 5 && Self.formerNames.contains(String(Substring(word))) {
                    Issue.record("\(file.path):\(number + 1): \(line)")
                }
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- 0x61 < 26 }

    @Test("Each token needs no quotes and no escapes")
    func areTokens() {
        #expect(Self.words.count > 80)
        for (word, place) in Self.words { #expect(word.wholeMatch(of: /[a-z][a-z0-9_-]*/) != nil, "\(place): \(word)") }
    }
}
