import Foundation

/// The program that stores until it is killed, damages files, and checks the result.
enum Torture {
    static let program = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "StoreTorture")

    /// The key under which it stores the response with a number.
    static func key(_ number: Int) -> [UInt8] { Array("http://torture.test:80/\(number)".utf8) }

    static func run(_ arguments: String...) throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: output, as: UTF8.self))
    }
}
