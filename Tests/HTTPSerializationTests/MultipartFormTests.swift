import Foundation
import HTTPSerialization
import Testing

@Suite("Multipart forms (RFC 7578, R14 to R16)")
struct MultipartFormTests {
    private final class Folder {
        let path = NSTemporaryDirectory() + "larder-multipart-\(UInt64.random(in: 0 ... .max))"
        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(atPath: path) }
        func file(_ name: String, _ octets: [UInt8]) throws -> String {
            try Data(octets).write(to: URL(filePath: "\(path)/\(name)"))
            return "\(path)/\(name)"
        }
    }

    private func text(_ form: MultipartForm) throws -> String { String(decoding: try form.octets(), as: UTF8.self) }

    private func code(_ body: () throws -> Void) -> RequestSerializationError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? RequestSerializationError)?.code
        }
    }

    @Test("Parts are framed by the boundary, in order, and the length is known in advance")
    func framesParts() throws {
        let folder = try Folder()
        var form = try MultipartForm(boundary: "X")
        form.append(["a": 1, "b": [nil, "é"]])
        try form.append("data", octets: [1, 2], fileName: "d.bin", contentType: "application/x-d", fields: [("X-Note", "n")])
        try form.append("file", file: folder.file("pic.PNG", [0x89]))
        try form.append("own", length: 3) {
            var pieces: [[UInt8]] = [[0x61], [], [0x62, 0x63]]
            return { pieces.isEmpty ? nil : pieces.removeFirst() }
        }
        let expected =
            "--X\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--X\r\nContent-Disposition: form-data; name=\"b[]\"\r\n\r\n\r\n"
            + "--X\r\nContent-Disposition: form-data; name=\"b[]\"\r\n\r\né\r\n"
            + "--X\r\nContent-Disposition: form-data; name=\"data\"; filename=\"d.bin\"\r\nContent-Type: application/x-d\r\nX-Note: n\r\n\r\n\u{1}\u{2}\r\n"
            + "--X\r\nContent-Disposition: form-data; name=\"file\"; filename=\"pic.PNG\"\r\nContent-Type: image/png\r\n\r\n"
        let octets = try form.octets()
        #expect(UInt64(octets.count) == form.length)
        #expect(octets.starts(with: Array(expected.utf8) + [0x89, 0x0D, 0x0A]))
        #expect(octets.suffix(10) == Array("abc\r\n--X--\r\n".utf8).suffix(10))
        #expect(try form.octets() == octets, "a form can be read again")
    }

    @Test("A name cannot begin another field or end its quotes", arguments: ["a\"b", "a\r\nX-Evil: 1", "\n", "\"; filename=\"x"])
    func escapesNames(name: String) throws {
        var form = try MultipartForm(boundary: "X")
        try form.append(name, octets: [], fileName: name)
        let escaped = name.replacingOccurrences(of: "\"", with: "%22").replacingOccurrences(of: "\r", with: "%0D")
            .replacingOccurrences(of: "\n", with: "%0A")
        #expect(
            try text(form)
                == "--X\r\nContent-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n\r\n\r\n--X--\r\n")
    }

    @Test("Invalid part fields and boundaries are rejected")
    func refusesBadFields() throws {
        var form = MultipartForm()
        #expect(code { try form.append("a", octets: [], contentType: "x\r\ny") } == .malformedPart)
        #expect(code { try form.append("a", octets: [], fields: [("X Y", "")]) } == .malformedPart)
        #expect(form.isEmpty)
        for boundary in ["", "a b", "a\r\n", String(repeating: "x", count: 71), "ä"] {
            #expect(code { _ = try MultipartForm(boundary: boundary) } == .malformedPart)
        }
        #expect(code { _ = try MultipartForm(boundary: String(repeating: "x", count: 70)) } == nil)
    }

    @Test("A missing file, or one that is not a regular file, is rejected when it is added")
    func refusesBadFiles() throws {
        let folder = try Folder()
        var form = MultipartForm()
        for path in [folder.path, folder.path + "/none", "/dev/null", ""] {
            #expect(code { try form.append("f", file: path) } == .unreadableFile)
        }
        #expect(form.isEmpty && form.length == 0)
    }

    @Test(
        "A file or source whose length has changed when it is sent ends the reading", arguments: [0, 1, 3])
    func noticesOtherLengths(count: Int) throws {
        let folder = try Folder()
        let path = try folder.file("f", [1, 2])
        var form = MultipartForm()
        try form.append("f", file: path)
        _ = try folder.file("f", Array(repeating: 0, count: count))
        #expect(code { _ = try form.octets() } == .changedLength)
        var own = MultipartForm()
        try own.append("o", length: 2) {
            var isOver = false
            return {
                defer { isOver = true }
                return isOver ? nil : Array(repeating: 0, count: count)
            }
        }
        let reader = own.makeReader()
        #expect(code { while try reader.next() != nil {} } == .changedLength)
        #expect(try reader.next() == nil)
    }

    @Test("Boundaries are random and unique")
    func makesBoundaries() {
        let boundaries = Set((0..<1_000).map { _ in MultipartForm().boundary })
        #expect(boundaries.count == 1_000)
        #expect(boundaries.allSatisfy { $0.utf8.count == 39 && $0.hasPrefix("larder-") })
    }

    @Test("A form is written to a new file that only its owner can read, never over an existing one")
    func spills() throws {
        let folder = try Folder()
        var form = MultipartForm()
        try form.append("f", octets: Array(repeating: 7, count: 300_000))
        let path = folder.path + "/spilled"
        try form.write(toFile: path)
        let data = try Data(contentsOf: URL(filePath: path))
        #expect(Array(data) == (try form.octets()))
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        #expect(code { try form.write(toFile: path) } == .unreadableFile)
        var broken = MultipartForm()
        try broken.append("o", length: 2) { { nil } }
        #expect(code { try broken.write(toFile: path + "2") } == .changedLength)
        #expect(!FileManager.default.fileExists(atPath: path + "2"))
    }

    @Test(
        "A large file is read piece by piece, without memory growing with it",
        .disabled(if: getenv("ASAN_OPTIONS") != nil, "AddressSanitizer keeps freed memory"))
    func isFlat() async {
        // In a separate process nothing else uses memory.
        await #expect(processExitsWith: .success) {
            let folder = try Folder()
            let path = try folder.file("large", [])
            let handle = try FileHandle(forWritingTo: URL(filePath: path))
            try handle.truncate(atOffset: 512 << 20)
            var form = MultipartForm()
            try form.append("f", file: path)
            // During the first pieces the allocator takes the memory that it keeps.
            let reader = form.makeReader()
            var length: UInt64 = 0
            for _ in 0..<16 { length += UInt64(try reader.next()?.count ?? 0) }
            try Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
            let before = Self.peakKiB()
            while let piece = try reader.next() { length += UInt64(piece.count) }
            #expect(length == form.length && length > 512 << 20)
            let growth = Self.peakKiB() - before
            // One piece and its copies are 400 KiB.
            // A sanitizer keeps released memory.
            let environment = ProcessInfo.processInfo.environment
            let isSanitized = environment["ASAN_OPTIONS"] != nil || environment["LARDER_SANITIZE"] != nil
            #expect(growth < (isSanitized ? 128 * 1024 : 1024), "\(growth) KiB")
        }
    }

    @Test("With a throttle the pause is between packets, not before the first")
    func throttles() async throws {
        var form = MultipartForm()
        try form.append("f", octets: Array(repeating: 0, count: 1000))
        var pieces = 0
        var octets: [UInt8] = []
        let start = ContinuousClock.now
        for try await piece in form.pieces(throttle: PacketThrottle(packetLength: 250, pause: .milliseconds(10))) {
            pieces += 1
            octets += piece
        }
        #expect(pieces == 7)
        #expect(ContinuousClock.now - start >= .milliseconds(60))
        #expect(octets == (try form.octets()))
    }

    /// Peak memory of the process since the marks were cleared, in KiB.
    private static func peakKiB() -> Int {
        let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return line.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) } ?? 0
    }
}
