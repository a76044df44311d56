import Foundation

/// A program of the system's, by which a store is changed.
struct Tool: Sendable {
    struct Outcome {
        let code: Int32
        /// What it said on standard output.
        let output: [UInt8]
        /// The last line that it said on standard error, or else on standard output.
        let lastWord: String
    }

    let path: String
    private let environment: [String: String]

    /// - Returns: `nil` where it is not installed. Those of the system's administrator are looked for too, whom `PATH` leaves out.
    init?(_ name: String, in environment: [String: String]) {
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"]
        let places: [String] = folders.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
        let found = places.first { access($0, X_OK) == 0 }
        guard let found else { return nil }
        self.init(path: found, in: environment)
    }

    init(path: String, in environment: [String: String]) {
        self.path = path
        self.environment = environment
    }

    func run(_ arguments: [String]) -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        let output = Pipe()
        process.standardOutput = output
        // To a file: two pipes, read one after the other, could fill up.
        let talk = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID().uuidString)")
        let descriptor = open(talk.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        unlink(talk.path)
        let errors = descriptor >= 0 ? FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) : FileHandle.nullDevice
        process.standardError = errors
        do {
            try process.run()
        } catch {
            return Outcome(code: 127, output: [], lastWord: "cannot be started")
        }
        let said = Array(output.fileHandleForReading.readDataToEndOfFile())
        process.waitUntilExit()
        if descriptor >= 0 { lseek(descriptor, 0, SEEK_SET) }
        let complaint = Array((try? errors.readToEnd()) ?? Data())  // what cannot be read is not repeated
        return Outcome(
            code: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
            output: said, lastWord: Self.lastLine(complaint) ?? Self.lastLine(said) ?? "it says nothing")
    }

    private static func lastLine(_ octets: [UInt8]) -> String? {
        String(decoding: octets, as: UTF8.self).split(whereSeparator: \.isNewline).last.map(String.init)
    }
}
