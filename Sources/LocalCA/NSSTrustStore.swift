import Foundation
import ServerTrust

/// An NSS database, in which Chromium and Firefox keep trusted certificates, changed with `certutil`.
package struct NSSTrustStore: TrustStore {
    package let kind = TrustStoreKind.nss
    private let folder: String
    private let tool: Tool?

    /// The places of databases in a user's home folder; a `*` matches any one folder name.
    private static let places = [
        ".pki/nssdb", ".local/share/pki/nssdb", "snap/chromium/*/.pki/nssdb", ".mozilla/firefox/*", ".config/mozilla/firefox/*",
        "snap/firefox/common/.mozilla/firefox/*",
    ]
    private static let database = "cert9.db"

    package static func all(environment: [String: String]) -> [NSSTrustStore] {
        guard let home = environment["HOME"], home.hasPrefix("/") else { return [] }
        let tool = Tool("certutil", in: environment)
        let data = environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? ["\($0)/pki/nssdb"] : nil } ?? []
        let folders = SystemRoot.running.matches(places.map { "\(home)/\($0)" } + data)
        return folders.filter { FileManager.default.fileExists(atPath: "\($0)/\(database)") }
            .map { NSSTrustStore(folder: $0, tool: tool) }
    }

    package var title: String { "the NSS database \(folder)" }

    package var obstacle: TrustStoreObstacle? {
        var facts = stat()
        // Another user's database is not changed, even by root, who would leave files that the owner cannot write.
        guard stat("\(folder)/\(Self.database)", &facts) == 0, facts.st_uid == geteuid() else { return .belongsToAnother }
        return tool == nil ? .lacks(tool: "certutil", package: "libnss3-tools") : nil
    }

    package func presence(of entry: RootEntry) -> TrustStorePresence {
        guard let tool else { return .unclear("certutil was not found") }
        let list = tool.run(["-L", "-d", "sql:\(folder)"])
        if list.code != 0 { return .unclear(list.lastWord) }
        let listed = Self.listed(in: String(decoding: list.output, as: UTF8.self))
        for item in listed where has(entry, under: item.nickname, tool) {
            if item.nickname == entry.name { return item.isBelieved ? .ours : .halfway }
            if item.isBelieved { return .others }
            return .othersUnbelieved(
                "the database contains the root certificate as \(item.nickname), but does not trust it for servers")
        }
        return listed.contains { $0.nickname == entry.name }
            ? .unclear("the nickname \(entry.name) belongs to a different certificate") : .absent
    }

    package func plan(_ entry: RootEntry, isAdded: Bool) -> String {
        isAdded ? "certutil -A -t C,, -n \(entry.name)" : "certutil -D -n \(entry.name)"
    }

    package func add(_ entries: [RootEntry]) throws(TrustStoreError) {
        for entry in entries {
            try TemporaryCertificate.with(entry.certificate) { file throws(TrustStoreError) in
                try run(["-A", "-d", "sql:\(folder)", "-n", entry.name, "-t", "C,,", "-i", file])
            }
            // If a certificate is already in the database, adding it again does not change its trust flags, so the flags are set here.
            try run(["-M", "-d", "sql:\(folder)", "-n", entry.name, "-t", "C,,"])
        }
    }

    package func remove(_ entries: [RootEntry]) throws(TrustStoreError) {
        for entry in entries { try run(["-D", "-d", "sql:\(folder)", "-n", entry.name]) }
    }

    private func run(_ arguments: [String]) throws(TrustStoreError) {
        guard let tool else { throw TrustStoreError("certutil was not found") }
        let outcome = tool.run(arguments)
        if outcome.code != 0 { throw TrustStoreError(tool, outcome) }
    }

    private func has(_ entry: RootEntry, under nickname: String, _ tool: Tool) -> Bool {
        let shown = tool.run(["-L", "-d", "sql:\(folder)", "-n", nickname, "-a"])
        return shown.code == 0 && Certificate.reading(pem: shown.output)?.contains(entry.certificate) == true
    }

    /// Parses lines like `larder-0123456789abcdef C,,`, in which a `C` before the first comma means that the certificate is trusted for
    /// servers.
    package static func listed(in list: String) -> [(nickname: String, isBelieved: Bool)] {
        list.split(whereSeparator: \.isNewline).compactMap { line in
            line.wholeMatch(of: /(.*\S)\s+([a-zA-Z]*),[a-zA-Z]*,[a-zA-Z]*\s*/).map { (String($0.1), $0.2.contains("C")) }
        }
    }
}
