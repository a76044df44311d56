import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import TextCoding

/// A running Larder's store, over the admin socket.
struct RunningCache {
    let path: String

    /// - Throws: exit code 1, after reporting the error if the request fails.
    func send(
        _ method: String, _ name: String, _ parameters: [(String, String)], into take: (ArraySlice<UInt8>) -> Void
    ) throws {
        guard try sendIfThere(method, name, parameters, into: take) else {
            Terminal.talk("larder: no such response is stored\n")
            throw ExitCode.failure
        }
    }

    func print(_ method: String, _ name: String, _ parameters: [(String, String)]) throws {
        try send(method, name, parameters) { Terminal.output(bytes: $0) }
    }

    func ask(_ method: String, _ name: String, _ parameters: [(String, String)]) throws -> String {
        var answer: [UInt8] = []
        try send(method, name, parameters) { answer += $0 }
        return String(decoding: answer, as: UTF8.self)
    }

    /// - Returns: `nil` if no such response is stored.
    func askIfThere(_ method: String, _ name: String, _ parameters: [(String, String)]) throws -> String? {
        var answer: [UInt8] = []
        return try sendIfThere(method, name, parameters) { answer += $0 } ? String(decoding: answer, as: UTF8.self) : nil
    }

    private func sendIfThere(
        _ method: String, _ name: String, _ parameters: [(String, String)], into take: (ArraySlice<UInt8>) -> Void
    ) throws -> Bool {
        func encoded(_ text: String) -> String { text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text }
        let query = parameters.map { "\(encoded($0.0))=\(encoded($0.1))" }.joined(separator: "&")
        do {
            let client = try AdminClient(path: path)
            var refusal: [UInt8] = []
            let status = try client.send(method, "/v1/cache/\(name)?\(query)", accept: "application/json") { bytes, status in
                if status.isSuccessful { take(bytes) } else { refusal += bytes }
            }
            if status.isSuccessful { return true }
            if status.code == 404 { return false }
            let detail = JSONAnswer(String(decoding: refusal, as: UTF8.self))["detail"] as? String
            Terminal.talk("larder: \(printable(detail ?? "answer \(status.code)", limit: 1000))\n")
            if status.code == 400 { throw ExitCode(2) }
        } catch let failure as AdminClient.Failure {
            Terminal.talk("larder: \(failure)\n")
        }
        throw ExitCode.failure
    }
}
