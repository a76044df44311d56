import Foundation

/// A system program that changes a trust store.
package struct Tool: Sendable {
    package struct Outcome {
        let code: Int32
        /// The tool's standard output.
        package let output: [UInt8]
        /// The tool's standard error.
        package let talk: [UInt8]
        /// The last line on standard error, else on standard output.
        let lastWord: String
        /// If `false`, `lastWord` says why the tool did not start.
        var hasStarted = true
    }

    /// The maximum length of the output that is read, in bytes. A list of all public roots has about 30 KiB.
    static let outputLimit = 16 * 1024 * 1024

    package let path: String
    private let environment: [String: String]

    /// - Returns: `nil` if the tool is not installed. Also searches the administrator's folders, which `PATH` may not include.
    package init?(_ name: String, in environment: [String: String]) {
        let folders = (environment["PATH"] ?? "").split(separator: ":").map(String.init) + ["/usr/sbin", "/sbin"]
        let places: [String] = folders.filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
        let found = places.first { access($0, X_OK) == 0 }
        guard let found else { return nil }
        self.init(path: found, in: environment)
    }

    package init(path: String, in environment: [String: String]) {
        self.path = path
        self.environment = environment
    }

    /// - Parameter begun: called with the process, which leads its own process group.
    package func run(_ arguments: [String], begun: (pid_t) -> Void = { _ in }) -> Outcome {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        // Output goes to files instead of pipes: of two pipes that are read one after the other, the second could fill up.
        guard let output = Self.nameless(), let talk = Self.nameless() else {
            return unstarted("cannot start \(path): there is no space for its output")
        }
        process.standardOutput = output
        process.standardError = talk
        do {
            try process.run()
        } catch {
            return unstarted("cannot start \(path)")
        }
        begun(process.processIdentifier)
        process.waitUntilExit()
        let said = Self.octets(of: output)
        let talked = Self.octets(of: talk)
        return Outcome(
            code: process.terminationReason == .exit ? process.terminationStatus : 128 + process.terminationStatus,
            output: said, talk: talked, lastWord: Self.lastLine(talked) ?? Self.lastLine(said) ?? "no output")
    }

    private func unstarted(_ reason: String) -> Outcome {
        Outcome(code: 127, output: [], talk: [], lastWord: reason, hasStarted: false)
    }

    /// A file that exists only while it is open.
    private static func nameless() -> FileHandle? {
        let file = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID().uuidString)").path
        let descriptor = open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return nil }
        unlink(file)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func octets(of handle: FileHandle) -> [UInt8] {
        lseek(handle.fileDescriptor, 0, SEEK_SET)
        return Array((try? handle.read(upToCount: outputLimit)) ?? Data())  // no bytes if reading fails
    }

    private static func lastLine(_ octets: [UInt8]) -> String? {
        String(decoding: octets, as: UTF8.self).split(whereSeparator: \.isNewline).last.map(String.init)
    }
}
