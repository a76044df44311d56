import HTTPCaching
import HTTPMessage

extension CacheOverrides {
    /// Reads `ttl`: one lifetime, or lifetimes by status such as `{404: 1m, 5xx: 10s, default: 1h}`.
    mutating func readLifetimes(_ cursor: SettingsCursor, problems: inout SettingsProblems) {
        guard case .mapping = cursor.node.value else {
            timeToLive = cursor.deltaSeconds(problems: &problems)
            return
        }
        guard let entries = cursor.entries(problems: &problems) else { return }
        if entries.isEmpty { cursor.report("`ttl` lists no status", to: &problems) }
        for entry in entries {
            let lifetime = entry.value.deltaSeconds(problems: &problems)
            if entry.key == "default" {
                timeToLive = lifetime
            } else if let statuses = Self.statuses(entry.key) {
                guard statusLifetimes.count < StatusLifetimes.limit else {
                    problems.add(
                        "`ttl` can list at most \(StatusLifetimes.limit) statuses or ranges", path: entry.value.path,
                        at: entry.place)
                    return
                }
                if (statuses.lower...statuses.upper).allSatisfy(Self.isNeverStored) {
                    problems.add(
                        "responses with the status `\(SettingsText.quoted(entry.key))` are never stored, so a lifetime has no effect",
                        path: entry.value.path, at: entry.place)
                }
                if let lifetime { statusLifetimes.add(statuses.lower...statuses.upper, lifetime: lifetime) }
            } else {
                problems.add(
                    "expected a status such as 404, a class such as 5xx, a range such as 500-599, or default, "
                        + "found `\(SettingsText.quoted(entry.key))`", path: entry.value.path, at: entry.place)
            }
        }
    }

    /// Whether a response with this status is never stored by itself: it is informational (1xx), or it updates or completes another
    /// stored response (RFC 9111 §3.3, §4.3.4).
    private static func isNeverStored(_ status: UInt16) -> Bool { status < 200 || status == 206 || status == 304 }

    private static func statuses(_ text: String) -> StatusRange? {
        let isClass = text.utf8.count == 3 && text.hasSuffix("xx")
        return isClass ? StatusRange(parsing: "\(text.prefix(1))00-\(text.prefix(1))99") : StatusRange(parsing: text)
    }
}

extension SettingsCursor {
    /// Reads a duration that is a whole number of seconds, like HTTP's delta-seconds.
    func deltaSeconds(problems: inout SettingsProblems) -> DeltaSeconds? {
        let longest = Int64(DeltaSeconds.greatest.seconds)
        guard let milliseconds = milliseconds(in: 0...longest * 1000, problems: &problems) else { return nil }
        guard milliseconds % 1000 == 0 else {
            report("a lifetime is a whole number of seconds", to: &problems)
            return nil
        }
        return DeltaSeconds(milliseconds / 1000)
    }
}
