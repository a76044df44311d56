import Foundation
import ServerTrust

/// A database of NSS, in which Chromium and Firefox keep whom to believe, changed by `certutil`.
struct NSSTrustStore: TrustStore {
    let kind = TrustStoreKind.nss
    private let folder: String
    private let tool: Tool?

    /// Below a user's home; a `*` stands for any one folder.
    private static let places = [
        ".pki/nssdb", "snap/chromium/*/.pki/nssdb", ".mozilla/firefox/*", ".config/mozilla/firefox/*",
        "snap/firefox/common/.mozilla/firefox/*",
    ]
    private static let database = "cert9.db"

    static func all(environment: [String: String]) -> [NSSTrustStore] {
        guard let home = environment["HOME"], home.hasPrefix("/") else { return [] }
        let tool = Tool("certutil", in: environment)
        let folders = places.flatMap { FolderPattern.matches("\(home)/\($0)") }
        let databases = folders.filter { FileManager.default.fileExists(atPath: "\($0)/\(database)") }
        return FolderPattern.distinct(databases).map { NSSTrustStore(folder: $0, tool: tool) }
    }

    var title: String { "the NSS database \(folder)" }

    var obstacle: TrustStoreObstacle? {
        var facts = stat()
        // The superuser would leave behind files that its owner cannot write.
        guard stat("\(folder)/\(Self.database)", &facts) == 0, facts.st_uid == geteuid() else { return .belongsToAnother }
        return tool == nil ? .lacks(tool: "certutil", package: "libnss3-tools") : nil
    }

    func presence(of entry: RootEntry) -> TrustStorePresence {
        guard let tool else { return .unclear("certutil is not there") }
        let list = tool.run(["-L", "-d", "sql:\(folder)"])
        if list.code != 0 { return .unclear(list.lastWord) }
        let nicknames = Self.nicknames(in: String(decoding: list.output, as: UTF8.self))
        for nickname in nicknames where has(entry, under: nickname, tool) { return nickname == entry.name ? .ours : .others }
        return nicknames.contains(entry.name) ? .unclear("\(entry.name) is something else") : .absent
    }

    func plan(_ entry: RootEntry, isAdded: Bool) -> String {
        isAdded ? "certutil -A -t C,, -n \(entry.name)" : "certutil -D -n \(entry.name)"
    }

    func add(_ entries: [RootEntry]) throws(TrustStoreFault) {
        for entry in entries {
            try TemporaryCertificate.with(entry.certificate) { file throws(TrustStoreFault) in
                try run(["-A", "-d", "sql:\(folder)", "-n", entry.name, "-t", "C,,", "-i", file])
            }
        }
    }

    func remove(_ entries: [RootEntry]) throws(TrustStoreFault) {
        for entry in entries { try run(["-D", "-d", "sql:\(folder)", "-n", entry.name]) }
    }

    private func run(_ arguments: [String]) throws(TrustStoreFault) {
        guard let tool else { throw TrustStoreFault("certutil is not there") }
        let outcome = tool.run(arguments)
        if outcome.code != 0 { throw TrustStoreFault(tool, outcome) }
    }

    private func has(_ entry: RootEntry, under nickname: String, _ tool: Tool) -> Bool {
        let shown = tool.run(["-L", "-d", "sql:\(folder)", "-n", nickname, "-a"])
        return shown.code == 0 && Certificate.reading(pem: shown.output)?.contains(entry.certificate) == true
    }

    /// Of lines like `larder-0123456789abcdef          C,,`.
    static func nicknames(in list: String) -> [String] {
        list.split(whereSeparator: \.isNewline).compactMap { line in
            line.wholeMatch(of: /(.*\S)\s+[a-zA-Z]*,[a-zA-Z]*,[a-zA-Z]*\s*/).map { String($0.1) }
        }
    }
}
