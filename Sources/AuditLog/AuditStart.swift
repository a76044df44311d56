import Glibc
import HTTPMessage
import ServerTrust
import TextCoding

/// The place in the chain at which a starting Larder continues its audit log.
struct AuditStart: Sendable {
    let key: AuditKey
    let file: OpenedAuditFile
    let number: UInt64
    let hash: SHA256Digest
    /// The number of lines that the next seal will be the first to cover.
    let unsealedCount: UInt64
    let newestSeal: AuditSeal?
    /// The first problem in the newest file, for the operator.
    let problem: String?
    /// Members of the line `started` about the state of the log.
    let facts: [(String, JSONText)]

    init(_ configuration: AuditLog.Configuration) throws(AuditLogUnusable) {
        try AuditFolder.create(configuration.folder)
        key = try AuditKey(folder: configuration.folder)
        let kept = try Self.keptSeal(configuration.sealPath)
        var file = try OpenedAuditFile(configuration.path)
        // Earlier seals may have another key: only `larder log verify` gets all keys.
        var scan = AuditScan(keys: [key.publicKey], wanted: kept)
        scan.begin(configuration.path)
        let cut: Int64
        do throws(AuditLogUnusable) {
            cut = try file.scan(into: &scan)
        } catch {
            file.close()
            throw error
        }
        if scan.last > 0 { scan.end() }
        self.file = file
        var facts: [(String, JSONText)] = []
        let problem = scan.problems.first.map { "line \($0.line) of the file: \($0.reason)" }
        if cut > 0 { facts.append(("cut_bytes", .number(Int(cut)))) }
        if scan.last == 0, let kept {
            // The log continues in a new file, because the old file was moved or removed.
            number = kept.number
            hash = kept.hash
            unsealedCount = 0
            newestSeal = kept
        } else {
            number = scan.last
            hash = scan.hash
            unsealedCount = scan.unsealedCount
            newestSeal = scan.newestSeal
            if let kept, !scan.foundWanted { facts.append(("missing_seal", .string("\(kept)"))) }
        }
        if let problem { facts.append(("problem", .string(problem))) }
        self.problem = problem
        self.facts = facts
    }

    /// The newest seal of an earlier run; `nil` if there is none.
    private static func keptSeal(_ path: String) throws(AuditLogUnusable) -> AuditSeal? {
        let bytes: [UInt8]
        do throws(SmallFile.Failure) {
            bytes = try SmallFile.read(path, isSecret: true)
        } catch {
            if error.code == ENOENT { return nil }
            throw AuditLogUnusable("\(path): \(error.reason)")
        }
        let text = String(decoding: bytes.prefix { $0 != ASCII.lf }, as: UTF8.self)
        guard let seal = AuditSeal(text) else { throw AuditLogUnusable("\(path) does not contain a seal; remove this file") }
        return seal
    }
}
