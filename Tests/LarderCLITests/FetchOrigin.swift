import Foundation
import Synchronization
import TestSupport

/// An origin with one file, whose responses to ranges are as a test needs them, valid or invalid.
final class FetchOrigin: Sendable {
    /// How it responds from a given request on, counted from one.
    struct Manner: Sendable {
        var body: [UInt8]
        /// The ETag field's value; `nil` for none.
        var tag: String? = "\"one\""
        var fields = ""
        /// The number of bytes after which the connection closes, although more were announced.
        var breaksAfter: Int?
        /// The number of bytes after which the origin stalls until the peer closes.
        var stallsAfter: Int?
        var ignoresRanges = false
        /// Responds to every range with 416.
        var refusesRanges = false
        /// Added to the first position in Content-Range.
        var shift = 0
        /// Responds with 206 regardless of If-Range.
        var ignoresConditions = false
        var status = "200 OK"
    }

    let origin: ScriptedOrigin

    /// - Parameter manner: by the request's number.
    init(_ manner: @escaping @Sendable (Int, OriginRequest) -> Manner) {
        let numbers = Numbers()
        origin = .answering { request, connection in
            FetchOrigin.answer(request, manner(numbers.next(), request), connection)
        }
    }

    convenience init(_ manner: Manner) { self.init { _, _ in manner } }

    deinit { origin.stop() }

    var url: String { "http://127.0.0.1:\(origin.port)" }
    var requests: [OriginRequest] { origin.requestHeads.map { OriginRequest(head: $0) } }

    private static func answer(_ request: OriginRequest, _ manner: Manner, _ connection: borrowing OriginConnection) -> Bool {
        let body = manner.body
        var fields = manner.fields
        if let tag = manner.tag { fields += "ETag: \(tag)\r\n" }
        let holds = manner.ignoresConditions || (request["If-Range"].map { $0 == manner.tag } ?? true)
        guard let range = request["Range"], holds, !manner.ignoresRanges, manner.status == "200 OK" else {
            return send(manner.status, fields, body, body.count, manner, connection)
        }
        let ends = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard !manner.refusesRanges, let first = ends[0], first < body.count else {
            return connection.respond("416 Range Not Satisfiable", fields: "\(fields)Content-Range: bytes */\(body.count)\r\n")
        }
        let last = min(ends[1] ?? .max, body.count - 1)
        let part = Array(body[first...last])
        fields += "Content-Range: bytes \(first + manner.shift)-\(last + manner.shift)/\(body.count)\r\n"
        return send("206 Partial Content", fields, part, part.count, manner, connection)
    }

    private static func send(
        _ status: String, _ fields: String, _ body: [UInt8], _ announced: Int, _ manner: Manner,
        _ connection: borrowing OriginConnection
    ) -> Bool {
        connection.send("HTTP/1.1 \(status)\r\nContent-Length: \(announced)\r\n\(fields)\r\n")
        if let end = manner.breaksAfter, end < body.count {
            connection.send(bytes: Array(body[..<end]))
            return false
        }
        if let end = manner.stallsAfter, end < body.count {
            connection.send(bytes: Array(body[..<end]))
            _ = connection.isLetGo()
            return false
        }
        return connection.send(bytes: body)
    }
}

/// A user with temporary folders, and files to fetch into one of them.
struct FetchStage {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(atPath: files, withIntermediateDirectories: true)
    }

    var files: String { "\(folder.path)/files" }
    var user: [String: String] { ["HOME": folder.path, "XDG_RUNTIME_DIR": "\(folder.path)/run", "TMPDIR": folder.path] }

    /// Fetches into the folder for files.
    func fetch(_ words: String...) throws -> CommandLineTests.Outcome {
        try CommandLineTests.larder(["fetch", "-d", files] + words, environment: user)
    }

    /// Starts a fetch, ends it by a signal once `isDue`, and waits for its end.
    func interrupt(_ name: String, _ words: String, until isDue: String) throws -> CommandLineTests.Outcome {
        try interrupt("-d \(files) \(words)", until: isDue, by: "kill -\(name) $fetch")
    }

    /// The same with a script, in which `$fetch` is the process.
    func interrupt(_ words: String, until isDue: String, by script: String) throws -> CommandLineTests.Outcome {
        try CommandLineTests.shell(
            """
            \(Self.withSignals) $larder fetch \(words) &
            fetch=$!
            until \(isDue); do kill -0 $fetch || exit 99; sleep 0.02; done
            \(script)
            wait $fetch
            """, user.merging(["files": files]) { $1 })
    }

    /// The test runner may have blocked or ignored signals, which its child processes inherit.
    static let withSignals =
        "perl -MPOSIX -e 'sigprocmask(SIG_UNBLOCK, POSIX::SigSet->new(1..31, 34..64)); $SIG{$_} = \"DEFAULT\" for qw(INT QUIT); exec @ARGV'"

    func content(_ name: String) -> [UInt8]? {
        FileManager.default.contents(atPath: "\(files)/\(name)").map(Array.init)
    }

    /// All files in the folder, including hidden ones.
    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: files).sorted() }

    /// The only part that is left, and its record.
    func parts() throws -> [String] { try names().filter { $0.hasPrefix(".larder-") } }
}

/// Counts requests.
private final class Numbers: Sendable {
    private let count = Atomic(0)
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}
