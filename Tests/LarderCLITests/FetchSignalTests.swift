import Foundation
import TestSupport
import Testing

@testable import Downloads
@testable import LarderCLI

@Suite("Cancelling larder fetch")
struct FetchSignalTests {
    private static let body = PatternBytes.make(500_000, seed: 2)
    private static let unkept = "Cache-Control: no-store\r\n"
    private static let half = 250_000
    private static let hasHalf = "test \"$(cat $files/.larder-*.part 2> /dev/null | wc -c)\" -ge \(half)"

    /// Two signals, with this many seconds between them.
    private static func twice(_ seconds: Double) -> String {
        "perl -e 'kill INT => $ARGV[0]; select undef, undef, undef, $ARGV[1]; kill INT => $ARGV[0]' $fetch \(seconds)"
    }

    @Test("Two signals in quick succession, as timeout sends them, count as one: the part is kept", arguments: [0, 0.002, 0.01])
    func takesTwoForOne(seconds: Double) throws {
        let origin = FetchOrigin { number, _ in
            FetchOrigin.Manner(body: Self.body, fields: Self.unkept, stallsAfter: number == 1 ? Self.half : nil)
        }
        let stage = try FetchStage()
        let first = try stage.interrupt("-d $files \(origin.url)/a", until: Self.hasHalf, by: Self.twice(seconds))
        #expect(first.code == 130 && first.talk.contains("kept 244 KiB: run the same command to resume"), "\(first)")
        #expect(try stage.fetch("\(origin.url)/a").code == 0)
        #expect(stage.content("a") == Self.body)
        #expect(origin.requests.last?["Range"] == "bytes=\(Self.half)-\(Self.body.count - 1)")
    }

    @Test("A later second signal ends the process at once if it has not ended by itself", .timeLimit(.minutes(1)))
    func endsAtOnce() throws {
        let stage = try FetchStage()
        // The messages are not read, until the pipe is full.
        let url = "http://127.0.0.1:1/\(String(repeating: "a", count: 8000))"
        let list = try stage.folder.write((1...40).map { "\(url)?\($0)\n" }.joined(), to: "list")
        let outcome = try CommandLineTests.shell(
            """
            mkfifo $HOME/pipe
            exec 3<> $HOME/pipe
            \(FetchStage.withSignals) $larder fetch -d $files --json --retries 0 -i \(list) > $HOME/pipe 2> $HOME/talk &
            fetch=$!
            until test -s $HOME/talk; do kill -0 $fetch || exit 99; sleep 0.02; done
            # Two signals that come too close to each other count as one.
            while kill -INT $fetch 2> /dev/null; do sleep 0.7; done
            wait $fetch
            """, stage.user.merging(["files": stage.files]) { $1 })
        #expect(outcome.code == 130, "\(outcome)")
    }

    @Test(
        "Before a transfer starts, for example while a list is read, the first signal ends the process at once",
        .timeLimit(.minutes(1)))
    func endsReading() throws {
        let stage = try FetchStage()
        let pipe = "\(stage.folder.path)/list"
        #expect(mkfifo(pipe, 0o600) == 0)
        let outcome = try stage.interrupt(
            "-i \(pipe) 3<> \(pipe)", until: "ls -l /proc/$fetch/fd | grep -v ' 3 -' | grep -q \(pipe)", by: "kill -INT $fetch")
        #expect(outcome.code == 130, "\(outcome)")
    }

    // MARK: Digests

    /// Long enough that its digest takes more time than a test may.
    private static let length: UInt64 = 128 << 30
    private static let isReading = "awk '/^rchar/ { exit !($2 > 100000000) }' /proc/$fetch/io"
    private static let timed =
        "before=$(date +%s%N); kill -INT $fetch; wait $fetch; code=$?; echo $((($(date +%s%N) - before) / 1000000)); exit $code"
    private static let digest = "sha256:\(String(repeating: "0", count: 64))"

    private static func makeFile(_ path: String) throws {
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        #expect(truncate(path, off_t(length)) == 0)
    }

    @Test("A signal is handled while the digest of an existing file is computed; the file stays", .timeLimit(.minutes(1)))
    func stopsLookingAtAFile() throws {
        let origin = FetchOrigin(.init(body: Self.body))
        let stage = try FetchStage()
        try Self.makeFile("\(stage.files)/a")
        let outcome = try stage.interrupt(
            "--overwrite --digest \(Self.digest) -o $files/a \(origin.url)/a", until: Self.isReading, by: Self.timed)
        #expect(outcome.code == 130 && outcome.talk.contains("a: interrupted"), "\(outcome)")
        #expect(Int(outcome.output.split(separator: "\n").last ?? "") ?? .max < 60_000, "\(outcome)")
        #expect(origin.requests.isEmpty)
        #expect(try stage.names() == ["a"])
    }

    @Test("A signal is handled while the digest of the fetched content is computed; all of it is kept", .timeLimit(.minutes(1)))
    func stopsChecking() throws {
        let origin = FetchOrigin(.init(body: Self.body))
        let stage = try FetchStage()
        do {
            let part = try PartFile(in: stage.files, for: .file(key: "\(origin.url)/a\na"), isSequential: true)
            try Self.makeFile(part.path)
            let record = PartRecord(
                tag: "\"one\"", total: Self.length, extents: [[0, Self.length]], boot: PartRecord.currentBoot(), isOnDisk: false,
                name: "a")
            record.write(part.recordPath)
        }
        let outcome = try stage.interrupt(
            "--digest \(Self.digest) -o $files/a \(origin.url)/a", until: Self.isReading, by: Self.timed)
        #expect(outcome.code == 130 && outcome.talk.contains("a: interrupted; kept 128 GiB"), "\(outcome)")
        #expect(Int(outcome.output.split(separator: "\n").last ?? "") ?? .max < 60_000, "\(outcome)")
        #expect(origin.requests.isEmpty)
        #expect(try stage.parts().count == 2 && stage.names().count == 2)
    }

    @Test("At any time of the signal, either the file exists and the call succeeds, or it does not and the next call resumes")
    func isTheOneOrTheOther() throws {
        let body = PatternBytes.make(30 << 20, seed: 7)
        let origin = FetchOrigin(.init(body: body, fields: Self.unkept))
        var codes = Set<Int32>()
        for step in 0..<12 {
            let stage = try FetchStage()
            let words = "-q --digest \(FileDigest.text(.init(of: body, by: .sha512))) -o $files/a \(origin.url)/a"
            let outcome = try stage.interrupt(
                words, until: "ls $files/.larder-*.part > /dev/null 2>&1 || test -e $files/a",
                by: "sleep \(Double(step) * 0.02); kill -INT $fetch 2> /dev/null")
            codes.insert(outcome.code)
            #expect([0, 130].contains(outcome.code), "\(outcome)")
            #expect((outcome.code == 0) == (stage.content("a") != nil), "\(outcome)")
            #expect((outcome.code == 0) == outcome.talk.isEmpty, "\(outcome)")
            if outcome.code == 130 {
                let next = try CommandLineTests.shell("$larder fetch \(words)", stage.user.merging(["files": stage.files]) { $1 })
                #expect(next.code == 0, "\(next)")
            }
            #expect(stage.content("a") == body)
            #expect(try stage.names() == ["a"])
        }
        #expect(!codes.isEmpty)
    }
}
