import Glibc
import HTTPMessage
import SecretScanning
import ServerTrust
import Snapshots

/// Records until it is killed, looks at what is left, records some, and measures: `write PATH`, `resume PATH LAST`, `record PATH COUNT`,
/// `measure FOLDER COUNT LENGTH`.
enum SnapshotTorture {
    static func run(arguments: [String]) {
        do {
            switch (arguments.first, arguments.count) {
            case ("write", 2): try write(arguments[1])
            case ("resume", 3): try resume(arguments[1], last: Int(arguments[2]) ?? -1)
            case ("record", 3): try record(arguments[1], count: Int(arguments[2]) ?? 0)
            case ("measure", 4):
                try SnapshotMeasure.run(arguments[1], count: Int(arguments[2]) ?? 0, length: Int(arguments[3]) ?? 0)
            default: fail("write PATH, resume PATH LAST, record PATH COUNT or measure FOLDER COUNT LENGTH")
            }
        } catch {
            fail("\(error)")
        }
    }

    /// A line to standard output at once: whoever kills this program reads it.
    static func line(_ text: some CustomStringConvertible) {
        let octets = Array("\(text)\n".utf8)
        _ = Glibc.write(1, octets, octets.count)
    }

    static func fail(_ message: String) -> Never {
        SnapshotTorture.line(message)
        exit(1)
    }

    static let now = Timestamp(seconds: 1_795_415_000)

    static func key() -> ProjectKey {
        guard let key = ProjectKey(octets: [UInt8](repeating: 7, count: ProjectKey.length)) else { fail("no key") }
        return key
    }

    static func record(_ recorder: SnapshotRecorder, _ number: Int, length: Int) throws {
        var fields = Fields()
        fields.append(name: "Accept", value: "*/*")
        fields.append(name: "User-Agent", value: "torture/1.0")
        let uri = Array("http://h\(number % 97).example:80/things/\(number)/of/some/length?page=\(number % 7)".utf8)
        let exchange = try recorder.begin(RequestToMatch(method: Array("GET".utf8), uri: uri, fields: fields))
        var response = Fields()
        response.append(name: "Content-Type", value: "application/octet-stream")
        response.append(name: "Cache-Control", value: "max-age=600")
        response.append(name: "ETag", value: "\"\(number)\"")
        exchange.head(status: .ok, reason: Array("OK".utf8), fields: response)
        try exchange.append(body(number, length: length).span)
        try exchange.finish(times: RecordedTimes(started: now, phases: [nil, nil, 100, nil, 10, 200, 30]))
    }

    /// Another one for each number.
    static func body(_ number: Int, length: Int) -> [UInt8] {
        var body = [UInt8](repeating: UInt8(truncatingIfNeeded: number &* 37), count: length)
        for (place, octet) in "\(number)".utf8.enumerated() where place < length { body[place] = octet }
        return body
    }

    static func length(of number: Int) -> Int { number % 50 == 0 ? 700_000 : 20 + number % 3000 }

    /// Prints a number when the file has it and all before it.
    private static func write(_ path: String) throws {
        let writer = try SnapshotWriter(path: path, tool: "torture", now: now)
        let recorder = try SnapshotRecorder(writer, key: key())
        var commitCount = 0
        for number in 0... {
            try record(recorder, number, length: length(of: number))
            // The commit may have come before the last row of this number.
            if writer.commitCount > commitCount, number > 0 { SnapshotTorture.line(number - 1) }
            commitCount = writer.commitCount
            usleep(1000)
        }
    }

    /// Prints both roots.
    private static func record(_ path: String, count: Int) throws {
        let writer = try SnapshotWriter(path: path, tool: "torture", now: now)
        let recorder = try SnapshotRecorder(writer, key: key())
        for number in 0..<count { try record(recorder, number, length: length(of: number)) }
        let roots = try writer.finish()
        SnapshotTorture.line("content \(Hexadecimal.encode(roots.content.octets))\nfull \(Hexadecimal.encode(roots.full.octets))")
    }

    /// Finishes what was left, and looks whether all up to a number is in it.
    private static func resume(_ path: String, last: Int) throws {
        _ = try SnapshotWriter(resuming: path).finish()
        let snapshot = try Snapshot(path: path)
        let result = try snapshot.verify()
        let layer = try SnapshotLayer(snapshot, key: nil)
        var cursors = SequenceCursors()
        for number in 0...max(last, 0) where last >= 0 {
            let uri = Array("http://h\(number % 97).example:80/things/\(number)/of/some/length?page=\(number % 7)".utf8)
            let request = RequestToMatch(method: Array("GET".utf8), uri: uri, fields: Fields())
            guard case .found(let found) = try layer.find(request, &cursors), let body = found.recording.response?.body,
                try snapshot.octets(of: body) == Self.body(number, length: length(of: number))
            else { fail("\(number) is not there") }
        }
        SnapshotTorture.line("\(result.recordings) recordings, \(last + 1) expected")
    }
}
