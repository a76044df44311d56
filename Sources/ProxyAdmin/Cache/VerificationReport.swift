import ResponseStore
import TextCoding

/// The result of verifying the store, as text and as JSON.
struct VerificationReport {
    private let verification: StoreVerification

    init(_ verification: StoreVerification) { self.verification = verification }

    var text: String {
        let seen = "\(verification.rows) responses, \(verification.chunks) chunks, \(EntryText.size(verification.bytes))"
        if verification.faultCount == 0 { return "good: \(seen)\(note)\n" }
        let faults = verification.faults.map { "  \(words($0))\n" }.joined()
        return "faults: \(verification.faultCount) in \(seen)\(note)\n\(faults)"
    }

    var json: JSONText {
        .object([
            ("good", .bool(verification.faultCount == 0)), ("responses", .number(verification.rows)),
            ("chunks", .number(verification.chunks)), ("bytes", .count(verification.bytes)),
            ("whole_file", .bool(verification.isAlone)), ("fault_count", .number(verification.faultCount)),
            ("faults", .array(verification.faults.map { .string(words($0)) })),
        ])
    }

    /// SQLite's check of the whole file is one long read, which would delay the proxy's writes to the log.
    private var note: String { verification.isAlone ? "" : "; SQLite's own check runs only when Larder is not running" }

    private func words(_ fault: StoreVerification.Fault) -> String {
        switch fault {
        case .row(let row): "row \(row) is damaged"
        case .body(let row, nil): "the body of row \(row) is damaged"
        case .body(let row, let chunk?): "chunk \(chunk) of the body of row \(row) is missing or damaged"
        case .notInIndex(let row): "the index by key has no entry for row \(row)"
        case .strayIndex(let row): "the index by key has an entry for row \(row), but this row has another key or does not exist"
        case .chain(let row): "certificate chain \(row) is damaged"
        case .totals: "the totals are not the sum of the rows"
        case .database(let text): "SQLite: \(printable(text, limit: 200))"
        }
    }
}
