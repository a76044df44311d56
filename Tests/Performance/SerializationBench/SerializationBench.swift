import Foundation
import HTTPSerialization

/// What reading JSON into a value costs beside Foundation's reader, in MB/s: the best of several rounds, freeing included; and what a form
/// of parts with a file of 2 GiB takes of memory.
///
///     swift run -c release SerializationBench [FILE…]
///
/// Without files it reads two texts of its own: records as APIs send them, and an array of numbers.
enum SerializationBench {
    static func run(arguments: [String]) {
        var texts: [(name: String, text: [UInt8])] = []
        for path in arguments {
            guard let data = FileManager.default.contents(atPath: path) else { fatalError("no file \(path)") }
            texts.append((path, Array(data)))
        }
        if texts.isEmpty { texts = [("records", records(12_000)), ("numbers", numbers(400_000))] }
        for (name, text) in texts { measure(name, text) }
        measureForm()
    }

    /// The file has a hole for content, so that no disk is measured.
    private static func measureForm() {
        let path = NSTemporaryDirectory() + "larder-bench-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var form = MultipartForm()
        guard FileManager.default.createFile(atPath: path, contents: nil), let handle = FileHandle(forWritingAtPath: path),
            (try? handle.truncate(atOffset: 2 << 30)) != nil,
            (try? form.append("file", file: path)) != nil
        else { fatalError("no file of 2 GiB") }
        let before = residentLength()
        var length: UInt64 = 0
        let duration = ContinuousClock().measure {
            let reader = form.makeReader()
            while let piece = try? reader.next() { length += UInt64(piece.count) }
        }
        guard length == form.length else { fatalError("the form is of another length") }
        print("form of \(length) octets: \(duration), \((residentLength() - before) >> 10) KiB more resident")
    }

    private static func residentLength() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
    }

    private static func measure(_ name: String, _ text: [UInt8]) {
        let data = Data(text)
        let ours = rate(text.count) {
            guard let value = try? JSONValue(parsing: text, options: JSONParseOptions(removesNulls: .everywhere)), !value.isNull
            else { fatalError("refused") }
        }
        let foundation = rate(text.count) {
            guard (try? JSONSerialization.jsonObject(with: data, options: [.fragmentsAllowed])) != nil else {
                fatalError("refused")
            }
        }
        guard let value = try? JSONValue(parsing: text) else { fatalError("refused") }
        let written = rate(text.count) { if value.text().isEmpty { fatalError("nothing written") } }
        print(
            "\(name), \(text.count) octets: JSONValue without nulls \(ours) MB/s, JSONSerialization \(foundation) MB/s,",
            "\(ours * 10 / max(foundation, 1)) tenths; writing \(written) MB/s")
    }

    /// In MB/s.
    private static func rate(_ count: Int, _ round: () -> Void) -> Int {
        let seconds =
            (0..<15).map { _ in
                let duration = ContinuousClock().measure(round).components
                return Double(duration.seconds) + Double(duration.attoseconds) / 1e18
            }.min() ?? 1
        return Int(Double(count) / seconds / 1e6)
    }

    private static func records(_ count: Int) -> [UInt8] {
        var text = "["
        for id in 0..<count {
            if id > 0 { text += ",\n" }
            text += """
                {"id": \(id * 7919), "id_str": "\(id * 7919)", "name": "Grüße Nr. \(id)", "text": "Some words about \\"\(id)\\", \
                a line\\nand a link: https:\\/\\/example.com\\/\(id)", "deleted_at": null, "score": \(Double(id) / 7), \
                "tags": ["alpha", "beta", null, "gamma\(id % 10)"], "user": {"login": "user\(id % 1000)", "admin": false, \
                "avatar": null, "followers_count": \(id % 5000)}, "created_at": "2026-11-23T03:07:55Z", "ok": true}
                """
        }
        return Array((text + "]").utf8)
    }

    private static func numbers(_ count: Int) -> [UInt8] {
        Array(("[" + (0..<count).map { "\(Double($0) * 1.2345)" }.joined(separator: ",") + "]").utf8)
    }
}
