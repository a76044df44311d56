import Foundation
import TestSupport
import Testing

@Suite("larder fetch resumes")
struct FetchResumeTests {
    private static let body = PatternBytes.make(500_000, seed: 2)
    private static let other = PatternBytes.make(400_000, seed: 3)
    private static let unkept = "Cache-Control: no-store\r\n"
    private static let half = 250_000

    /// A part with the first half, left by a call that a signal ended.
    private static func begun(_ stage: FetchStage, _ url: String, _ name: String = "TERM") throws -> CommandLineTests.Outcome {
        try stage.interrupt(
            name, "\(url)/a", until: "test \"$(cat $files/.larder-*.part 2> /dev/null | wc -c)\" -ge \(half)")
    }

    @Test(
        "A termination signal leaves a part and exits with 128 plus its number; the same command requests only the rest",
        arguments: [
            ("INT", 130), ("TERM", 143), ("HUP", 129),
        ] as [(String, Int32)])
    func leavesAPart(name: String, code: Int32) throws {
        let origin = FetchOrigin { number, _ in
            FetchOrigin.Manner(body: Self.body, fields: Self.unkept, stallsAfter: number == 1 ? Self.half : nil)
        }
        let stage = try FetchStage()
        let first = try Self.begun(stage, origin.url, name)
        #expect(first.code == code && first.talk.contains("kept 244 KiB: run the same command to resume"), "\(first)")
        #expect(try stage.parts().count == 2 && stage.names().count == 2)
        let second = try stage.fetch("\(origin.url)/a")
        #expect(second.code == 0 && second.talk.contains("488 KiB, 244 KiB downloaded now"), "\(second)")
        #expect(stage.content("a") == Self.body)
        #expect(try stage.names() == ["a"])
        let request = try #require(origin.requests.last)
        #expect(request["Range"] == "bytes=\(Self.half)-\(Self.body.count - 1)" && request["If-Range"] == "\"one\"")
    }

    @Test("A fetch that was killed in its first second resumes at the last byte that is present, and the file is correct")
    func survivesKill() throws {
        let origin = FetchOrigin { number, _ in
            var manner = FetchOrigin.Manner(body: Self.body, fields: Self.unkept)
            if number == 1 { manner.stallsAfter = Self.half }
            return manner
        }
        let stage = try FetchStage()
        _ = try stage.interrupt(
            "KILL", "\(origin.url)/a",
            until: "test -s $files/.larder-*.json && test \"$(cat $files/.larder-*.part | wc -c)\" -ge \(Self.half)")
        let second = try stage.fetch("\(origin.url)/a")
        #expect(second.code == 0 && second.talk.contains("244 KiB downloaded now"), "\(second)")
        #expect(stage.content("a") == Self.body)
        #expect(try stage.names() == ["a"])
        #expect(origin.requests.last?["Range"] == "bytes=\(Self.half)-\(Self.body.count - 1)")
    }

    @Test(
        "A fetch in several parts that was killed resumes, in parts or sequentially, and the file is correct", arguments: [1, 4])
    func survivesKillInParts(parts: Int) throws {
        let origin = FetchOrigin { number, _ in
            var manner = FetchOrigin.Manner(body: Self.large, fields: Self.unkept)
            if number > 1, number < 5 { manner.stallsAfter = 100_000 }
            return manner
        }
        let stage = try FetchStage()
        _ = try stage.interrupt(
            "KILL", "--parts 4 \(origin.url)/a",
            until: "test -s $files/.larder-*.json && test \"$(stat -c %b $files/.larder-*.part)\" -ge 8192")
        let second = try stage.fetch("--parts", "\(parts)", "\(origin.url)/a")
        #expect(second.code == 0 && second.talk.contains(" downloaded now"), "\(second)")
        #expect(stage.content("a") == Self.large)
        #expect(try stage.names() == ["a"])
    }

    @Test("A part without a record leaves no bytes at the end of a shorter file")
    func forgetsWhatItDoesNotKnow() throws {
        let origin = FetchOrigin { number, _ in
            number == 1
                ? FetchOrigin.Manner(body: Self.body, tag: nil, fields: Self.unkept, stallsAfter: Self.half)
                : FetchOrigin.Manner(body: Array(Self.other[..<100]), tag: nil, fields: Self.unkept)
        }
        let stage = try FetchStage()
        _ = try Self.begun(stage, origin.url, "KILL")
        #expect(try stage.fetch("\(origin.url)/a").code == 0)
        #expect(stage.content("a") == Array(Self.other[..<100]))
    }

    /// The server's response to the second call.
    enum Later: String, CaseIterable, Sendable {
        case another, ignoring, weak, untagged, refusing, shifted, shorter, lying, silent
    }

    @Test("Whatever the server sends when a fetch resumes, no file is ever mixed", arguments: Later.allCases)
    func neverMixes(later: Later) throws {
        let origin = FetchOrigin { number, request in
            var manner = FetchOrigin.Manner(body: Self.body, fields: Self.unkept)
            if number == 1 {
                manner.stallsAfter = Self.half
                return manner
            }
            switch later {
            case .another: (manner.body, manner.tag) = (Self.other, "\"two\"")
            case .ignoring: manner.ignoresRanges = true
            case .weak: (manner.body, manner.tag) = (Self.other, "W/\"one\"")
            case .untagged: (manner.body, manner.tag) = (Self.other, nil)
            case .refusing: (manner.body, manner.tag, manner.refusesRanges) = (Self.other, "\"two\"", true)
            case .shifted: manner.shift = request["Range"] == nil ? 0 : 7
            case .shorter: (manner.body, manner.tag) = (Array(Self.body[..<100]), "\"two\"")
            case .lying: (manner.body, manner.tag, manner.ignoresConditions) = (Self.other, "\"two\"", true)
            // A part of another entity, without a validator.
            case .silent: (manner.body, manner.tag, manner.ignoresConditions) = (Self.other, nil, true)
            }
            return manner
        }
        let stage = try FetchStage()
        _ = try Self.begun(stage, origin.url)
        #expect(try stage.parts().count == 2)
        let second = try stage.fetch("\(origin.url)/a")
        #expect(second.code == 0, "\(second)")
        let expected: [UInt8] =
            switch later {
            case .another, .weak, .untagged, .refusing, .lying, .silent: Self.other
            case .ignoring, .shifted: Self.body
            case .shorter: Array(Self.body[..<100])
            }
        #expect(stage.content("a") == expected)
        #expect(try stage.names() == ["a"])
    }

    @Test("Without a strong validator no part is kept", arguments: ["W/\"one\"", nil])
    func needsAStrongValidator(tag: String?) throws {
        let origin = FetchOrigin { number, _ in
            FetchOrigin.Manner(body: Self.body, tag: tag, fields: Self.unkept, stallsAfter: number == 1 ? Self.half : nil)
        }
        let stage = try FetchStage()
        let first = try Self.begun(stage, origin.url)
        #expect(first.code == 143 && !first.talk.contains("kept"), "\(first)")
        #expect(try stage.names().isEmpty)
        #expect(try stage.fetch("\(origin.url)/a").code == 0)
        #expect(stage.content("a") == Self.body && origin.requests.last?["Range"] == nil)
    }

    @Test("Without a strong validator, a body that is interrupted within a call is fetched from the start, and this is reported")
    func beginsAnew() throws {
        let origin = FetchOrigin { number, _ in
            FetchOrigin.Manner(body: Self.body, tag: nil, fields: Self.unkept, breaksAfter: number == 1 ? Self.half : nil)
        }
        let stage = try FetchStage()
        let outcome = try stage.fetch("\(origin.url)/a")
        #expect(outcome.code == 0 && outcome.talk.contains("a: the connection closed early: retrying in 0."), "\(outcome)")
        #expect(stage.content("a") == Self.body)
    }

    @Test("A second fetch of the same URL to the same place is refused while the first is running")
    func locks() throws {
        let origin = FetchOrigin { number, _ in FetchOrigin.Manner(body: Self.body, fields: Self.unkept, stallsAfter: Self.half) }
        let stage = try FetchStage()
        let outcome = try stage.interrupt(
            "TERM", "\(origin.url)/a",
            until: """
                test "$(cat $files/.larder-*.part 2> /dev/null | wc -c)" -ge \(Self.half) &&
                $larder fetch -q -d $files --retries 0 \(origin.url)/a 2>&1 | grep -q 'another larder is fetching'
                """)
        #expect(outcome.code == 143, "\(outcome)")
    }

    @Test("A part that is a symbolic link of another user is not written through")
    func followsNoLinks() throws {
        let origin = FetchOrigin { number, _ in
            FetchOrigin.Manner(body: Self.body, fields: Self.unkept, stallsAfter: number == 1 ? Self.half : nil)
        }
        let stage = try FetchStage()
        _ = try Self.begun(stage, origin.url)
        let part = try #require(try stage.parts().first { $0.hasSuffix(".part") })
        let precious = try stage.folder.write("precious", to: "precious")
        try FileManager.default.removeItem(atPath: "\(stage.files)/\(part)")
        try FileManager.default.createSymbolicLink(atPath: "\(stage.files)/\(part)", withDestinationPath: precious)
        #expect(try stage.fetch("\(origin.url)/a").code == 3)
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
    }

    // MARK: Several parts at once

    private static let large = PatternBytes.make(20 << 20, seed: 4)

    @Test("Several simultaneous ranges make the same file, each requested once and with the same entity tag")
    func fetchesParts() throws {
        let origin = FetchOrigin(.init(body: Self.large, fields: Self.unkept))
        let stage = try FetchStage()
        let outcome = try stage.fetch("--parts", "4", "\(origin.url)/a")
        #expect(outcome.code == 0 && stage.content("a") == Self.large, "\(outcome)")
        let requests = origin.requests
        #expect(requests.count == 5)
        #expect(Set(requests.compactMap { $0["Range"] }).count == 5)
        #expect(requests.dropFirst().allSatisfy { $0["If-Range"] == "\"one\"" })
        #expect(origin.origin.peakOpenCount > 1)
    }

    @Test("If the entity changes between the parts, it is fetched from the start, and never mixed")
    func changesBetweenParts() throws {
        let changed = PatternBytes.make(20 << 20, seed: 5)
        let origin = FetchOrigin { number, _ in
            number < 3
                ? FetchOrigin.Manner(body: Self.large, fields: Self.unkept)
                : FetchOrigin.Manner(body: changed, tag: "\"two\"", fields: Self.unkept)
        }
        let stage = try FetchStage()
        let outcome = try stage.fetch("--parts", "3", "\(origin.url)/a")
        #expect(outcome.code == 0 && outcome.talk.contains("the file has changed on the server: starting again"), "\(outcome)")
        #expect(stage.content("a") == changed)
    }

    @Test(
        "A file with the largest possible length costs only the bytes that arrive, and can be cancelled", .timeLimit(.minutes(1)))
    func cutsWhatIsAskedFor() throws {
        let origin = ScriptedOrigin { connection in
            while let head = connection.readHead() {
                let first = OriginRequest(head: head)["Range"]?.dropFirst("bytes=".count).prefix { $0 != "-" }.description ?? "0"
                let last = (UInt64(first) ?? 0) + 99
                connection.send(
                    "HTTP/1.1 206 Partial Content\r\nContent-Length: 100\r\nETag: \"one\"\r\n\(Self.unkept)"
                        + "Content-Range: bytes \(first)-\(last)/\(UInt64(1) << 60)\r\n\r\n\(String(repeating: "a", count: 100))"
                )
            }
        }
        defer { origin.stop() }
        let stage = try FetchStage()
        let outcome = try stage.interrupt(
            "TERM", "--parts 4 http://127.0.0.1:\(origin.port)/a", until: "test -s $files/.larder-*.json")
        #expect(outcome.code == 143 && outcome.talk.contains("interrupted; kept "), "\(outcome)")
    }

    @Test("A fetch of a file that changes with every response ends with an error", .timeLimit(.minutes(1)))
    func givesUpChanging() throws {
        let origin = FetchOrigin { number, _ in
            FetchOrigin.Manner(body: Self.large, tag: "\"\(number)\"", fields: Self.unkept)
        }
        let stage = try FetchStage()
        let outcome = try stage.fetch("--parts", "2", "\(origin.url)/a")
        #expect(outcome.code == 9 && outcome.talk.contains("changes faster than it can be fetched"), "\(outcome)")
        #expect(try stage.names().isEmpty)
    }

    @Test("If a server sends no parts, or weak tags, the complete file is fetched in one response", arguments: [true, false])
    func fallsBack(ignores: Bool) throws {
        let origin = FetchOrigin(
            .init(body: Self.large, tag: ignores ? "\"one\"" : "W/\"one\"", fields: Self.unkept, ignoresRanges: ignores))
        let stage = try FetchStage()
        let outcome = try stage.fetch("--parts", "4", "\(origin.url)/a")
        #expect(outcome.code == 0 && stage.content("a") == Self.large, "\(outcome)")
        #expect(origin.requests.count == (ignores ? 1 : 2))
    }

    @Test("If a server accepts two connections and refuses more, two are used")
    func takesFewer() throws {
        let origin = FetchOrigin { number, _ in
            number == 3 || number == 4
                ? FetchOrigin.Manner(body: [], tag: nil, status: "503 Service Unavailable")
                : FetchOrigin.Manner(body: Self.large, fields: Self.unkept)
        }
        let stage = try FetchStage()
        let outcome = try stage.fetch("--parts", "4", "\(origin.url)/a")
        #expect(outcome.code == 0 && stage.content("a") == Self.large, "\(outcome)")
    }

    @Test(
        "Parts of a storable response are stored as far as the store accepted them, and the next fetch requests only the missing bytes"
    )
    func storesParts() throws {
        let origin = FetchOrigin(.init(body: Self.large, fields: "Cache-Control: max-age=600\r\n"))
        let stage = try FetchStage()
        #expect(try stage.fetch("--parts", "4", "\(origin.url)/a").code == 0)
        // A store that cannot keep up omits some or all of it, which the next fetch requests.
        try eventually {
            let shown = try CommandLineTests.larder(["cache", "show", "\(origin.url)/a"], environment: stage.user)
            let asked = origin.requests.count
            let again = try stage.fetch("--overwrite", "\(origin.url)/a")
            #expect(again.code == 0, "\(again)")
            #expect(stage.content("a") == Self.large)
            let requests = origin.requests.dropFirst(asked)
            if shown.code == 0 {
                #expect(requests.allSatisfy { $0["Range"] != nil }, "\(shown.output)")
            }
            return requests.isEmpty
        }
        let offline = try stage.fetch("--offline", "--overwrite", "\(origin.url)/a")
        #expect(offline.code == 0 && stage.content("a") == Self.large, "\(offline)")
    }
}
