import Foundation
import ServerTrust

/// A Java `cacerts` file, changed with `keytool`.
package struct JavaTrustStore: TrustStore {
    package let kind = TrustStoreKind.java
    private let file: String
    private let tool: Tool?

    /// Where Java installations keep `cacerts`; a `*` matches any one folder name.
    private static let places = [
        "/etc/ssl/certs/java/cacerts", "/etc/pki/java/cacerts", "/usr/lib/jvm/*/lib/security/cacerts",
        "/usr/lib/jvm/*/jre/lib/security/cacerts",
    ]

    package static func all(in root: SystemRoot, environment: [String: String]) -> [JavaTrustStore] {
        // `JAVA_HOME` is used only for the running system.
        let home = root.isRunning ? environment["JAVA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } : nil
        let own = home.map { ["\($0)/lib/security/cacerts", "\($0)/jre/lib/security/cacerts"] } ?? []
        let homeTool = home.map { "\($0)/bin/keytool" }.flatMap { access($0, X_OK) == 0 ? Tool(path: $0, in: environment) : nil }
        let tool = homeTool ?? Tool("keytool", in: environment)
        return root.matches(own + places).map { JavaTrustStore(file: $0, tool: tool) }
    }

    package var title: String { "Java's \(file)" }

    package var obstacle: TrustStoreObstacle? {
        guard access(file, W_OK) == 0 else { return .needsRoot }
        return tool == nil ? .lacks(tool: "keytool", package: "default-jre-headless") : nil
    }

    package func presence(of entry: RootEntry) -> TrustStorePresence {
        do throws(TrustStoreError) {
            let aliases = try aliases()
            let holders = Self.holders(of: entry, in: aliases)
            if holders.contains(where: { Self.isOurs($0, entry) }) { return .ours }
            if !holders.isEmpty { return .others }
            return aliases.contains { Self.isOurs($0.alias, entry) }
                ? .unclear("the alias \(entry.name) belongs to a different certificate") : .absent
        } catch {
            return .unclear(error.reason)
        }
    }

    /// Whether the alias is Larder's name, or the one that Debian's hook (ca-certificates-java) derives from the file in the system's
    /// store. The hook adds new certificates, but does not remove deleted ones.
    private static func isOurs(_ alias: String, _ entry: RootEntry) -> Bool {
        alias == entry.name || alias == "debian:\(entry.name).pem"
    }

    private static func holders(of entry: RootEntry, in aliases: [(alias: String, fingerprint: String)]) -> [String] {
        aliases.filter { $0.fingerprint == entry.fingerprint }.map(\.alias)
    }

    private func aliases() throws(TrustStoreError) -> [(alias: String, fingerprint: String)] {
        try Self.aliases(in: String(decoding: run(["-list"]), as: UTF8.self))
    }

    package func plan(_ entry: RootEntry, isAdded: Bool) -> String {
        "keytool -\(isAdded ? "importcert" : "delete") -alias \(entry.name)"
    }

    package func add(_ entries: [RootEntry]) throws(TrustStoreError) {
        for entry in entries {
            try TemporaryCertificate.with(entry.certificate) { certificate throws(TrustStoreError) in
                try run(["-importcert", "-noprompt", "-trustcacerts", "-alias", entry.name, "-file", certificate])
            }
        }
    }

    package func remove(_ entries: [RootEntry]) throws(TrustStoreError) {
        let aliases = try aliases()
        for entry in entries {
            for alias in Self.holders(of: entry, in: aliases) where Self.isOurs(alias, entry) {
                try run(["-delete", "-alias", alias])
            }
        }
    }

    @discardableResult
    private func run(_ words: [String]) throws(TrustStoreError) -> [UInt8] {
        guard let tool else { throw TrustStoreError("keytool was not found") }
        let outcome = tool.run(Self.words(words, file))
        if outcome.code != 0 { throw TrustStoreError(tool, outcome) }
        return outcome.output
    }

    /// The arguments for `keytool`. Its output must be in English, because it is parsed. The password is Java's default for a file without
    /// secrets.
    private static func words(_ words: [String], _ file: String) -> [String] {
        ["-J-Duser.language=en"] + words + ["-keystore", file, "-storepass", "changeit"]
    }

    /// Parses pairs of lines like `larder-0123456789abcdef, Nov 22, 2026, trustedCertEntry, ` and `Certificate fingerprint (SHA-256):
    /// AB:CD:…`.
    package static func aliases(in list: String) -> [(alias: String, fingerprint: String)] {
        var aliases: [(alias: String, fingerprint: String)] = []
        var last: Substring = ""
        for line in list.split(whereSeparator: \.isNewline) {
            if let found = line.firstMatch(of: /\(SHA-256\): ([0-9A-F:]+)/) {
                aliases.append((String(last.prefix { $0 != "," }), String(found.1)))
            }
            last = line
        }
        return aliases
    }
}
