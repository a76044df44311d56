import HTTPMessage
import ServerTrust

/// Checks lines of an audit log in their order: numbers, hashes and seals.
package struct AuditScan: Sendable {
    package struct Problem: Equatable, Sendable {
        /// The file, and the position of the line in it; the first line is 1.
        package let file: String
        package let line: Int
        package let reason: String
    }

    /// The maximum number of problems that are listed; further problems are only counted.
    package static let problemLimit = 100

    /// The public keys that seals may be signed with, by the names of `AuditKey`.
    private let keys: [String: [UInt8]]
    private let wanted: AuditSeal?

    /// The number of the first line and of the last line; 0 without lines.
    package private(set) var first: UInt64 = 0
    package private(set) var last: UInt64 = 0
    package private(set) var lineCount = 0
    package private(set) var fileCount = 0
    package private(set) var newestSeal: AuditSeal?
    /// The time of the newest seal; empty without one.
    package private(set) var newestSealTime = ""
    /// Lines that were not sealed when Larder stopped unexpectedly. A later seal covers them, but a change before that seal is not visible.
    package private(set) var doubtful: [ClosedRange<UInt64>] = []
    package private(set) var problems: [Problem] = []
    package private(set) var problemCount = 0
    package private(set) var foundWanted = false
    /// Whether the line of the wanted seal is another line.
    private var hasOtherLine = false
    /// The hash in the first line: the hash of the line before it, which may be in an earlier file.
    private(set) var hashBefore = AuditLine.firstHash
    /// The hash of the last line.
    private(set) var hash = AuditLine.firstHash
    /// Whether a seal covers all lines so far, apart from the first line of a new file. If so, no line can have been changed
    /// between a crash and the next start.
    private var isSettled = true
    private var file = ""
    private var line = 0

    package init(keys: [[UInt8]], wanted: AuditSeal? = nil) {
        self.keys = Dictionary(keys.map { (AuditKey.name(of: $0), $0) }) { first, _ in first }
        self.wanted = wanted
    }

    /// The number of lines after the newest seal.
    package var unsealedCount: UInt64 { last - min(last, newestSeal?.number ?? (first == 0 ? 0 : first - 1)) }

    package mutating func begin(_ file: String) {
        self.file = file
        line = 0
        fileCount += 1
    }

    /// - Parameter text: a line without its line break.
    mutating func take(_ text: ArraySlice<UInt8>) {
        line += 1
        lineCount += 1
        guard text.count <= AuditLine.lengthLimit, let parts = AuditLine.read(text) else {
            return note("this is not a line of an audit log")
        }
        if line == 1, !parts.event.elementsEqual("opened".utf8) { note("lines are missing before the first line of the file") }
        if first == 0 {
            first = parts.number
            hashBefore = parts.previous
            if parts.number == 1, parts.previous != AuditLine.firstHash {
                note("the first line of the log contains the hash of an earlier line")
            }
        } else if parts.number != last + 1 {
            note(
                parts.number > last + 1
                    ? "lines \(last + 1) to \(parts.number - 1) are missing"
                    : "line \(parts.number) follows line \(last)")
        } else if parts.previous != hash {
            note("line \(last) was changed, or the hash in line \(parts.number) was")
        }
        hash = SHA256Digest(of: Array(text))
        if parts.event.elementsEqual("started".utf8), !isSettled {
            let after = newestSeal.map { $0.number + 1 } ?? first
            if after < parts.number { doubtful.append(after...parts.number - 1) }
        }
        last = parts.number
        isSettled = parts.seal != nil || isSettled && parts.event.elementsEqual("opened".utf8)
        if let seal = parts.seal { check(seal, of: text, parts) }
        if let wanted, wanted.number == parts.number {
            if wanted.hash == hash {
                foundWanted = true
            } else {
                hasOtherLine = true
                note("line \(parts.number) differs from the seal given with --seal")
            }
        }
    }

    private mutating func check(_ seal: AuditLine.Seal, of text: ArraySlice<UInt8>, _ parts: AuditLine.Parts) {
        guard let publicKey = keys[String(decoding: seal.key, as: UTF8.self)] else {
            return note("the seal is signed with an unknown key")
        }
        guard let signature = Base64.decode(seal.signature),
            Ed25519.accepts(signature, of: AuditSeal.message(text.prefix(seal.signedCount)), by: publicKey)
        else { return note("the signature of the seal is wrong") }
        newestSeal = AuditSeal(number: parts.number, hash: hash)
        newestSealTime = String(decoding: parts.time, as: UTF8.self)
    }

    /// Called for a file whose last line has no line break.
    mutating func noteCut() {
        line += 1
        note("the last line is incomplete")
    }

    /// Called after the last file.
    package mutating func end() {
        guard let wanted, !foundWanted, !hasOtherLine else { return }
        if wanted.number > last {
            note("lines are missing at the end: the log ends at line \(last), before the seal in line \(wanted.number)")
        } else if wanted.number + 1 == first, wanted.hash == hashBefore {
            // The file that ended with this seal was deleted, as it was the oldest, and the first line names it.
            foundWanted = true
        } else {
            note("the seal of line \(wanted.number) is not in the log, which begins with line \(first)")
        }
    }

    private mutating func note(_ reason: String) {
        problemCount += 1
        if problems.count < Self.problemLimit { problems.append(Problem(file: file, line: line, reason: reason)) }
    }
}
