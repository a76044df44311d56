import Foundation
import ServerTrust

/// The system's own store: a folder for what the administrator adds, and a program that makes the bundle of it.
struct SystemTrustStore: TrustStore {
    enum Layout: CaseIterable {
        /// Debian, Ubuntu, Alpine.
        case debian
        /// Fedora and its like.
        case fedora

        var folder: String {
            switch self {
            case .debian: "/usr/local/share/ca-certificates"
            case .fedora: "/etc/pki/ca-trust/source/anchors"
            }
        }

        var ending: String { self == .debian ? "crt" : "pem" }

        var bundle: String {
            switch self {
            case .debian: "/etc/ssl/certs/ca-certificates.crt"
            case .fedora: "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"
            }
        }

        var program: String { self == .debian ? "update-ca-certificates" : "update-ca-trust" }
    }

    let kind = TrustStoreKind.system
    private let layout: Layout
    /// What stands for `/`; empty for the running system.
    private let root: String
    private let environment: [String: String]

    /// - Returns: `nil` where the system is of no layout that is known here.
    init?(root: String, environment: [String: String]) {
        let found = Layout.allCases.first { FileManager.default.fileExists(atPath: root + $0.folder) }
        guard let found else { return nil }
        layout = found
        self.root = root
        self.environment = environment
    }

    var title: String { "the system's store \(root)\(layout.folder)" }

    var obstacle: TrustStoreObstacle? {
        guard access(root + layout.folder, W_OK) == 0 else { return .needsRoot }
        return updating == nil ? .lacks(tool: layout.program, package: "ca-certificates") : nil
    }

    func presence(of entry: RootEntry) -> TrustStorePresence {
        let file = file(of: entry)
        if FileManager.default.fileExists(atPath: file) {
            let octets = (try? SettingsFile.octets(at: file, atMost: AuthorityFolder.certificateLimit)) ?? []
            return RootEntry.isOnly(entry.certificate, in: octets) ? .ours : .unclear("\(file) is something else")
        }
        return isInBundle(entry) ? .others : .absent
    }

    func plan(_ entry: RootEntry, isAdded: Bool) -> String {
        "\(isAdded ? "write" : "delete") \(file(of: entry)), then \(layout.program)"
    }

    func add(_ entries: [RootEntry]) throws(TrustStoreFault) {
        var written: [RootEntry] = []
        do throws(TrustStoreFault) {
            for entry in entries {
                do throws(WholeFile.Unwritten) {
                    try WholeFile.write(entry.certificate.text, to: file(of: entry), replaces: false)
                } catch {
                    throw TrustStoreFault("cannot write \(file(of: entry)): \(error.reason)")
                }
                written.append(entry)
                // Whatever the umask says: everybody reads it, and there is nothing secret in it.
                _ = chmod(file(of: entry), 0o644)
            }
            try update(isRemoval: false)
            for entry in entries where !isInBundle(entry) {
                throw TrustStoreFault("\(layout.program) has not put it into \(root)\(layout.bundle)")
            }
        } catch {
            // As it was before.
            try? remove(written)  // the first fault is the one to tell
            throw error
        }
    }

    func remove(_ entries: [RootEntry]) throws(TrustStoreFault) {
        guard !entries.isEmpty else { return }
        for entry in entries where unlink(file(of: entry)) != 0 {
            throw TrustStoreFault("cannot delete \(file(of: entry)): \(String(cString: strerror(errno)))")
        }
        try update(isRemoval: true)
        for entry in entries where isInBundle(entry) {
            throw TrustStoreFault("it still stands in \(root)\(layout.bundle)")
        }
    }

    private func file(of entry: RootEntry) -> String { "\(root)\(layout.folder)/\(entry.name).\(layout.ending)" }

    private func isInBundle(_ entry: RootEntry) -> Bool {
        guard let octets = try? SettingsFile.octets(at: root + layout.bundle, atMost: TrustFiles.bundleLimit) else {
            return false
        }
        return Certificate.reading(pem: octets)?.contains(entry.certificate) ?? false
    }

    private var updating: Tool? {
        // Fedora's program knows no other place than its own system.
        Tool(layout == .fedora && !root.isEmpty ? "chroot" : layout.program, in: environment)
    }

    private func update(isRemoval: Bool) throws(TrustStoreFault) {
        guard let tool = updating else { throw TrustStoreFault("\(layout.program) is not there") }
        let outcome = tool.run(arguments(isRemoval: isRemoval))
        if outcome.code != 0 { throw TrustStoreFault(tool, outcome) }
    }

    private func arguments(isRemoval: Bool) -> [String] {
        switch layout {
        case .fedora: return root.isEmpty ? ["extract"] : [root, layout.program, "extract"]
        case .debian:
            // Without it the links to what is gone stay.
            let fresh = isRemoval ? ["--fresh"] : []
            if root.isEmpty { return fresh }
            return fresh + [
                "--certsconf", "\(root)/etc/ca-certificates.conf", "--certsdir", "\(root)/usr/share/ca-certificates",
                "--localcertsdir", root + layout.folder, "--etccertsdir", "\(root)/etc/ssl/certs", "--hooksdir",
                "\(root)/etc/ca-certificates/update.d",
            ]
        }
    }
}
