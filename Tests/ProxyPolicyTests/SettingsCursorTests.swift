import ProxyPolicy
import Testing

@Suite("Reading settings")
struct SettingsCursorTests {
    private func problems(_ text: String, _ read: (SettingsCursor, inout SettingsProblems) -> Void) throws -> [String] {
        var problems = SettingsProblems()
        read(SettingsCursor(try FlowSettings.node(text), path: "x"), &problems)
        return problems.all.map { $0.rendered(file: "f") }
    }

    @Test("An unknown key is reported at its place, with the nearest valid one")
    func unknownKey() throws {
        let found = try problems("{one: 1,\n  tow: 2, nine: 9}") { _ = $0.mapping(of: ["one", "two"], problems: &$1) }
        #expect(
            found == [
                "f:2:3: x: unknown key `tow`; did you mean `two`?", "f:2:11: x: unknown key `nine`",
            ])
    }

    @Test("A duplicate key is reported at its second place")
    func twice() throws {
        let found = try problems("{one: 1, one: 2}") { _ = $0.mapping(of: ["one"], problems: &$1) }
        #expect(found == ["f:1:10: x.one: this key is set twice"])
    }

    @Test(
        "A value of the wrong kind is named",
        arguments: [
            ("[a]", "f:1:1: x: expected a mapping, found a list"),
            ("a", "f:1:1: x: expected a mapping, found a single value"),
            ("null", "f:1:1: x: expected a mapping, found nothing"),
        ])
    func kinds(text: String, message: String) throws {
        #expect(try problems(text) { _ = $0.mapping(of: [], problems: &$1) } == [message])
    }

    @Test(
        "Durations are read",
        arguments: [
            ("0", 0), ("60", 60_000), ("60s", 60_000), ("\"60s\"", 60_000), ("5m", 300_000), ("1h", 3_600_000),
            ("1.5h", 5_400_000),
            ("2d", 172_800_000), ("250ms", 250), ("0.25s", 250), ("60 s", 60_000),
        ])
    func milliseconds(text: String, expected: Int64) throws {
        var problems = SettingsProblems()
        let cursor = SettingsCursor(try FlowSettings.node(text))
        #expect(cursor.milliseconds(in: 0...Int64.max, problems: &problems) == expected)
        #expect(problems.isEmpty)
    }

    @Test(
        "Invalid durations are refused",
        arguments: [
            "", "s", "-1", "1x", "\"1 \"", "1..5s", ".5s", "1.s", "1e3", "0.0001s", "99999999999999999999", "184467440737095516d",
            "[1]", "１s",
        ])
    func noMilliseconds(text: String) throws {
        #expect(try problems(text) { _ = $0.milliseconds(in: 0...Int64.max, problems: &$1) }.count == 1)
    }

    @Test(
        "Numbers of bytes are read",
        arguments: [
            ("0", 0), ("4096", 4096), ("16KiB", 16 << 10), ("1.5GiB", 3 << 29), ("2MB", 2_000_000), ("1 MiB", 1 << 20), ("7B", 7),
            ("16777215TiB", 16_777_215 << 40),
        ] as [(String, UInt64)])
    func byteCounts(text: String, expected: UInt64) throws {
        var problems = SettingsProblems()
        let cursor = SettingsCursor(try FlowSettings.node(text))
        #expect(cursor.byteCount(in: 0...UInt64.max, problems: &problems) == expected)
        #expect(problems.isEmpty)
    }

    @Test(
        "Invalid numbers of bytes are refused",
        arguments: ["", "KiB", "-1", "1K", "1mb", "0.3B", "1.5", "16777216TiB", "1.0000000001KiB"])
    func noByteCount(text: String) throws {
        #expect(try problems(text) { _ = $0.byteCount(in: 0...UInt64.max, problems: &$1) }.count == 1)
    }

    @Test(
        "A number outside its range is reported with the range",
        arguments: [
            ("0", ["f:1:1: x: expected 1 to 16MiB, found `0`"]), ("1", []), ("16MiB", []),
            ("16777217", ["f:1:1: x: expected 1 to 16MiB, found `16777217`"]),
        ])
    func byteRange(text: String, messages: [String]) throws {
        #expect(try problems(text) { _ = $0.byteCount(in: 1...16 << 20, problems: &$1) } == messages)
    }

    @Test(
        "A duration outside its range is reported with the range",
        arguments: [
            ("1h", []), ("3601", ["f:1:1: x: expected 250ms to 1h, found `3601`"]),
            ("0", ["f:1:1: x: expected 250ms to 1h, found `0`"]),
        ])
    func timeRange(text: String, messages: [String]) throws {
        #expect(try problems(text) { _ = $0.milliseconds(in: 250...3_600_000, problems: &$1) } == messages)
    }

    @Test(
        "Integers are read",
        arguments: [
            ("5", []), ("0", ["f:1:1: x: expected a whole number from 1 to 9, found `0`"]),
            ("\"5\"", ["f:1:1: x: expected a whole number from 1 to 9, found the text \"5\""]),
            ("five", ["f:1:1: x: expected a whole number from 1 to 9, found `five`"]),
            ("+5", ["f:1:1: x: expected a whole number from 1 to 9, found `+5`"]),
            ("", ["f:1:1: x: expected a whole number from 1 to 9, found nothing"]),
        ])
    func integers(text: String, messages: [String]) throws {
        #expect(try problems(text) { _ = $0.integer(in: 1...9, problems: &$1) } == messages)
    }

    @Test(
        "Booleans are read",
        arguments: [
            ("true", []), ("False", []), ("yes", ["f:1:1: x: expected true or false, found `yes`; did you mean `true`?"]),
            ("off", ["f:1:1: x: expected true or false, found `off`; did you mean `false`?"]),
            ("ture", ["f:1:1: x: expected true or false, found `ture`; did you mean `true`?"]),
            ("\"true\"", ["f:1:1: x: expected true or false, found `true`; did you mean `true`?"]),
        ])
    func booleans(text: String, messages: [String]) throws {
        #expect(try problems(text) { _ = $0.boolean(problems: &$1) } == messages)
    }

    @Test(
        "Words are read",
        arguments: [
            ("block", []), ("blok", ["f:1:1: x: expected one of block, pass, found `blok`; did you mean `block`?"]),
            ("[block]", ["f:1:1: x: expected one of block, pass, found a list"]),
        ])
    func words(text: String, messages: [String]) throws {
        #expect(try problems(text) { _ = $0.word(among: ["block": 1, "pass": 2], problems: &$1) } == messages)
    }

    @Test("T43: no part of a value reaches the terminal as a control character")
    func quoting() throws {
        let found = try problems("\"a\\n\\r\u{1B}[2J\u{202E}\"") { _ = $0.integer(in: 0...1, problems: &$1) }
        #expect(found == ["f:1:1: x: expected a whole number from 0 to 1, found the text \"a\\n\\r\\u{1b}[2J\\u{202e}\""])
    }
}
