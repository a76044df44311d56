import Foundation
import TestSupport
import Testing

@Suite("larder fetch -o with outputs that are not files")
struct FetchOutputTests {
    private static let body = PatternBytes.make(3_000_000, seed: 9)
    private static let unkept = "Cache-Control: no-store\r\n"
    private static let wrong = "sha256:\(String(repeating: "0", count: 64))"

    private static func fetch(_ stage: FetchStage, _ words: String...) throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder(["fetch"] + words, environment: stage.user)
    }

    @Test("/dev/null accepts everything, and stays a device", arguments: [1, 4])
    func forgets(parts: Int) throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.unkept))
        let stage = try FetchStage()
        let outcome = try Self.fetch(stage, "--parts", "\(parts)", "-o", "/dev/null", "\(origin.url)/a")
        #expect(outcome.code == 0 && outcome.talk.hasPrefix("/dev/null: 2.86 MiB in "), "\(outcome)")
        let differs = try Self.fetch(stage, "-o", "/dev/null", "--digest", Self.wrong, "\(origin.url)/a")
        #expect(differs.code == 5, "\(differs)")
        var facts = stat()
        #expect(stat("/dev/null", &facts) == 0 && facts.st_mode & S_IFMT == S_IFCHR)
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder.path).allSatisfy { !$0.hasPrefix(".larder") })
        #expect(try !FileManager.default.contentsOfDirectory(atPath: "/dev").contains { $0.hasPrefix(".larder") })
    }

    @Test("A full device is reported with exit code 3")
    func tellsOfAFullDevice() throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.unkept))
        let outcome = try Self.fetch(try FetchStage(), "-o", "/dev/full", "\(origin.url)/a")
        #expect(outcome.code == 3 && outcome.talk.contains("a: cannot write /dev/full: No space left on device"), "\(outcome)")
    }

    @Test("A pipe gets the complete content, or nothing if the digest is wrong", arguments: ["$HOME/pipe", "/dev/stdout"])
    func writesToPipes(path: String) throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.unkept))
        let stage = try FetchStage()
        let (reader, writer) = path == "/dev/stdout" ? ("", "| cksum") : ("mkfifo \(path); cksum < \(path) & ", "")
        let outcome = try CommandLineTests.shell(
            "\(reader)$larder fetch -q -o \(path) \(origin.url)/a \(writer); wait", stage.user)
        try Data(Self.body).write(to: URL(filePath: "\(stage.folder.path)/body"))
        let expected = try CommandLineTests.shell("cksum < $HOME/body", stage.user)
        #expect(outcome.output == expected.output && outcome.talk.isEmpty, "\(outcome)")
        let differs = try CommandLineTests.shell(
            "$larder fetch -q -o \(path) --digest \(Self.wrong) \(origin.url)/a \(writer)", stage.user)
        #expect(differs.talk.contains("the digest is wrong"), "\(differs)")
        if path == "/dev/stdout" { #expect(differs.output.hasPrefix("4294967295 0"), "\(differs)") }
    }

    @Test(
        "Waiting for a reader, or for a reader that has stopped, can be cancelled", .timeLimit(.minutes(1)),
        arguments: [true, false])
    func isCalledOff(isRead: Bool) throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.unkept))
        let stage = try FetchStage()
        let pipe = "\(stage.folder.path)/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let outcome = try stage.interrupt(
            "-o \(pipe) \(origin.url)/a\(isRead ? " 3<> \(pipe)" : "")",
            until: isRead
                ? "ls -l /proc/$fetch/fd | grep -v ' 3 -' | grep -q \(pipe)"
                : "ls -l /proc/$fetch/fd | grep -q '.part (deleted)'",
            by: "kill -INT $fetch")
        #expect(outcome.code == 130 && !outcome.talk.contains("kept"), "\(outcome)")
    }

    @Test("A fetch to standard output that is killed leaves no file")
    func leavesNothing() throws {
        let origin = FetchOrigin(.init(body: Self.body, fields: Self.unkept, stallsAfter: 100_000))
        let stage = try FetchStage()
        _ = try stage.interrupt(
            "-o - \(origin.url)/a", until: "ls -l /proc/$fetch/fd | grep -q '.part (deleted)'", by: "kill -KILL $fetch")
        #expect(try FileManager.default.contentsOfDirectory(atPath: stage.folder.path).allSatisfy { !$0.hasPrefix(".larder") })
    }
}
