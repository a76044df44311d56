import HTTPCaching
import HTTPMessage
import ResponseStore
import TextCoding

/// One stored response in full, without its content. Values that reveal cookies or credentials are omitted unless they are requested.
package struct ResponseDetail {
    private let found: FoundResponse
    private let showsSecrets: Bool
    private let now: Timestamp

    package init(_ found: FoundResponse, at now: Timestamp, showsSecrets: Bool) {
        self.found = found
        self.now = now
        self.showsSecrets = showsSecrets
    }

    private var response: StoredResponse { found.response }

    /// Whether the response is to a request with Authorization. It is then used only for such requests, or for all if the origin server
    /// allows that (RFC 9111 §3.5).
    package var isAuthorized: Bool { response.facts.flags.contains(.authorized) }

    package var json: JSONText {
        let facts = response.facts
        return .object([
            ("row", .number(Int(response.row))), ("url", .string(url)), ("status", .number(Int(facts.status.code))),
            ("fields", .array(fields.map { .array([.string($0.name), .string($0.value)]) })),
            ("size", .count(response.body.length)), ("age", .number(Int(facts.currentAge(at: now).seconds))),
            ("lifetime", .number(Int(facts.freshnessLifetime.seconds))), ("lifetime_source", .string(facts.lifetimeSource.word)),
            ("fresh", .bool(facts.isFresh(at: now))),
            ("stale_while_revalidate", .number(Int(facts.staleWhileRevalidate.seconds))),
            ("stale_if_error", .number(Int(facts.staleIfError.seconds))), ("authorized", .bool(isAuthorized)),
            ("variant", .bool(!response.nominatedFields.isEmpty)), ("partial", .bool(found.isPartial)),
            ("stored_ranges", .string(found.storedRanges)), ("tags", .array(response.tags.map { .string($0) })),
            ("requested_ms", .number(Int(response.requestTime.milliseconds))),
            ("received_ms", .number(Int(response.responseTime.milliseconds))),
        ])
    }

    package var text: String {
        let facts = response.facts
        var lines = [
            url, "  row       \(response.row)", "  size      \(response.body.length) (\(EntryText.size(response.body.length)))",
            "  age       \(facts.currentAge(at: now).seconds) s",
            "  lifetime  \(facts.freshnessLifetime.seconds) s (\(facts.lifetimeSource.word)): \(facts.isFresh(at: now) ? "fresh" : "stale")",
        ]
        if found.isPartial { lines.append("  in part   \(found.storedCount) bytes stored: \(found.storedRanges)") }
        if !response.tags.isEmpty { lines.append("  tags      " + response.tags.map { printable($0) }.joined(separator: " ")) }
        if !response.nominatedFields.isEmpty { lines.append("  variant   one of several (Vary)") }
        if isAuthorized { lines.append("  request   with Authorization") }
        lines.append("")
        lines.append("  \(facts.status.code)")
        for (name, value) in fields { lines.append("  \(name): \(printable(value, limit: 4096))") }
        return lines.joined(separator: "\n") + "\n"
    }

    private var url: String {
        var visible: [UInt8] = []
        EntryText.append(visible: StoredURL.text(ofKey: response.key)[...], into: &visible)
        return String(decoding: visible, as: UTF8.self)
    }

    private var fields: [(name: String, value: String)] {
        let fields = response.head.fields
        return fields.lines.map { line in
            let isHidden = !showsSecrets && line.known == .setCookie
            return (fields.text(of: line.name), isHidden ? "(left out)" : fields.text(of: line.value))
        }
    }
}
