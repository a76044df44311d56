import ArgumentParser
import CommandSupport
import Foundation
import Snapshots
import TextCoding

/// Code that the snapshot commands share: files, keys, and error handling.
enum SnapshotFiles {
    /// An error with the file it concerns.
    private struct FileFailure: Error {
        let path: String
        let error: SnapshotError

        /// SQLite's messages already name the file.
        var text: String { error.text(of: path) }
    }

    /// Runs a command's work. Errors of a snapshot exit with 5, errors of the disk with 1.
    static func run(_ work: () throws -> Void) throws {
        do {
            try work()
        } catch let failure as FileFailure {
            try end(failure.error, failure.text)
        } catch let error as SnapshotError {
            try end(error, error.description)
        }
    }

    private static func end(_ error: SnapshotError, _ text: String) throws -> Never {
        Terminal.talk("larder: \(printable(text, limit: 4096))\n")
        switch error {
        case .damaged, .notSigned, .notASnapshot, .tooLarge, .holdsSecrets, .unsearchable: throw ExitCode(5)
        case .database, .exists, .notReplaced, .inTheWay, .unfinished, .nothingToResume, .noGeneration, .noBody,
            .nothingRecordedYet, .unusableKey,
            .malformed, .noJSON:
            throw ExitCode.failure
        }
    }

    /// Runs work on one file: its errors name the file.
    static func of<Value>(_ path: String, _ work: () throws -> Value) throws -> Value {
        do {
            return try work()
        } catch let error as SnapshotError {
            throw FileFailure(path: path, error: error)
        }
    }

    static func open(_ path: String, signedBy keys: [VerifyingKey] = []) throws -> Snapshot {
        try of(path) { try Snapshot(path: path, signedBy: keys) }
    }

    /// - Throws: exit code 1, after reporting why the file cannot be read.
    static func octets(_ path: String) throws -> [UInt8] {
        do throws(LocalFile.Unreadable) {
            return try LocalFile.bytes(at: path, atMost: keyLimit, mayBePipe: true)
        } catch {
            Terminal.talk("larder: cannot read \(printable(path, limit: 4096)): \(error.reason)\n")
            throw ExitCode.failure
        }
    }

    /// Longer than any key, in bytes.
    private static let keyLimit = 1 << 20

    static func signingKey(_ path: String?) throws -> SigningKey? {
        guard let path else { return nil }
        let octets = try octets(path)
        return try of(path) { try SigningKey(pem: octets) }
    }

    static func verifyingKeys(_ paths: [String]) throws -> [VerifyingKey] {
        try paths.map { path in
            let octets = try octets(path)
            return try of(path) { try VerifyingKey(pem: octets) }
        }
    }

    static let tool = "larder \(Version.number)"
}

extension SnapshotError {
    /// The message with the file's name before it. SQLite's messages already contain the name.
    func text(of path: String) -> String {
        if case .noJSON = self { return "\(path):\(self)" }
        return description.hasPrefix(path) ? description : "\(path): \(description)"
    }
}
