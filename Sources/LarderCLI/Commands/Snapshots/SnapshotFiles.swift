import ArgumentParser
import Foundation
import ProxyAdmin
import Snapshots

/// What the commands about snapshots share: files, keys, and what becomes of an error.
enum SnapshotFiles {
    /// Runs a command's work. What a snapshot refuses ends with exit code 5, what a disk does with 1.
    static func run(_ work: () throws -> Void) throws {
        do {
            try work()
        } catch let error as SnapshotError {
            Terminal.talk("larder: \(printable(error.description, limit: 4096))\n")
            switch error {
            case .damaged, .notSigned, .notASnapshot, .tooLarge, .holdsSecrets: throw ExitCode(5)
            case .database, .exists, .unfinished, .unusableKey, .malformed: throw ExitCode.failure
            }
        }
    }

    static func octets(_ path: String) throws -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: path) else {
            Terminal.talk("larder: cannot read \(printable(path, limit: 4096))\n")
            throw ExitCode.failure
        }
        return [UInt8](data)
    }

    static func signingKey(_ path: String?) throws -> SigningKey? {
        guard let path else { return nil }
        return try SigningKey(pem: octets(path))
    }

    static func verifyingKeys(_ paths: [String]) throws -> [VerifyingKey] { try paths.map { try VerifyingKey(pem: octets($0)) } }

    static let tool = "larder \(Version.number)"
}
