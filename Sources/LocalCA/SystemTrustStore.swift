import CommandSupport
import Foundation
import ServerTrust

/// The system's trust store: a folder for the administrator's certificates, and a tool that makes the bundle from it.
package struct SystemTrustStore: TrustStore {
    package enum Layout: CaseIterable {
        /// The layout of Debian, Ubuntu and Alpine.
        case debian
        /// The layout of Fedora and related distributions.
        case fedora

        package var folder: String {
            switch self {
            case .debian: "/usr/local/share/ca-certificates"
            case .fedora: "/etc/pki/ca-trust/source/anchors"
            }
        }

        /// The folder of the distribution's certificates, which the tool also reads.
        var packaged: String {
            switch self {
            case .debian: "/usr/share/ca-certificates"
            case .fedora: "/usr/share/pki/ca-trust-source/anchors"
            }
        }

        var ending: String { self == .debian ? "crt" : "pem" }

        package var bundle: String {
            switch self {
            case .debian: "/etc/ssl/certs/ca-certificates.crt"
            case .fedora: "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"
            }
        }

        var program: String { self == .debian ? "update-ca-certificates" : "update-ca-trust" }
    }

    /// The largest certificate file that is read, in bytes.
    package static let bundleLimit = 16 << 20

    package let kind = TrustStoreKind.system
    private let layout: Layout
    private let root: SystemRoot
    private let environment: [String: String]

    /// - Returns: `nil` if the system has no known layout.
    package init?(in root: SystemRoot, environment: [String: String]) {
        let found = Layout.allCases.first { layout in
            root.resolved(layout.folder).map { FileManager.default.fileExists(atPath: $0) } ?? false
        }
        guard let found else { return nil }
        layout = found
        self.root = root
        self.environment = environment
    }

    private var folder: String { place(layout.folder) }
    private var bundle: String { place(layout.bundle) }

    /// - Returns: the path. If there are too many symbolic links, a path that cannot exist.
    private func place(_ place: String) -> String { root.resolved(place) ?? "/dev/null/\(place)" }

    package var title: String { "the system's store \(folder)" }

    package var obstacle: TrustStoreObstacle? {
        guard access(folder, W_OK) == 0 else { return .needsRoot }
        return updating == nil ? .lacks(tool: layout.program, package: "ca-certificates") : nil
    }

    package func presence(of entry: RootEntry) -> TrustStorePresence {
        let file = file(of: entry)
        let isInBundle = isInBundle(entry)
        if FileManager.default.fileExists(atPath: file) {
            let octets = (try? LocalFile.bytes(at: file, atMost: AuthorityFolder.certificateLimit)) ?? []
            guard RootEntry.isOnly(entry.certificate, in: octets) else {
                return .unclear("\(file) contains a different certificate")
            }
            return isInBundle ? .ours : .halfway
        }
        if !isInBundle { return .absent }
        return isOthers(entry) ? .others : .halfway
    }

    /// Whether a file other than Larder's contains the certificate.
    private func isOthers(_ entry: RootEntry) -> Bool {
        for folder in [folder, place(layout.packaged)] {
            let names = FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []
            for name in names {
                let file = "\(folder)/\(name)"
                if file == self.file(of: entry) { continue }
                // An unreadable file has no certificates.
                let octets = (try? LocalFile.bytes(at: file, atMost: Self.bundleLimit)) ?? []
                if Certificate.reading(pem: octets)?.contains(entry.certificate) == true { return true }
            }
        }
        return false
    }

    package func plan(_ entry: RootEntry, isAdded: Bool) -> String {
        "\(isAdded ? "write" : "delete") \(file(of: entry)), then \(layout.program)"
    }

    package func add(_ entries: [RootEntry]) throws(TrustStoreError) {
        var written: [RootEntry] = []
        do throws(TrustStoreError) {
            // An existing file is kept: it has the same content, but the tool has not added it to the bundle yet.
            for entry in entries where !FileManager.default.fileExists(atPath: file(of: entry)) {
                try write(entry)
                written.append(entry)
            }
            try update(isRemoval: false)
            for entry in entries where !isInBundle(entry) {
                throw TrustStoreError("\(layout.program) did not add the root certificate to \(bundle)")
            }
        } catch {
            // The files written by this call are removed again.
            for entry in written { unlink(file(of: entry)) }
            if !written.isEmpty { try? update(isRemoval: true) }  // only the first error is reported
            throw error
        }
    }

    private func write(_ entry: RootEntry) throws(TrustStoreError) {
        do throws(WholeFile.Unwritten) {
            try WholeFile.write(entry.certificate.pem, to: file(of: entry), replaces: false)
        } catch {
            throw TrustStoreError("cannot write \(file(of: entry)): \(error.reason)")
        }
        // The mode does not depend on the umask: all users may read the file, which contains no secret.
        _ = chmod(file(of: entry), 0o644)
    }

    package func remove(_ entries: [RootEntry]) throws(TrustStoreError) {
        guard !entries.isEmpty else { return }
        var deleted: [RootEntry] = []
        do throws(TrustStoreError) {
            for entry in entries {
                if unlink(file(of: entry)) == 0 {
                    deleted.append(entry)
                } else if errno != ENOENT {
                    throw TrustStoreError("cannot delete \(file(of: entry)): \(String(cString: strerror(errno)))")
                }
            }
            try update(isRemoval: true)
        } catch {
            // The files are restored: otherwise the bundle would contain certificates without a file.
            for entry in deleted { try? write(entry) }  // only the first error is reported
            throw error
        }
        for entry in entries where isInBundle(entry) && !isOthers(entry) {
            throw TrustStoreError("the root certificate is still in \(bundle)")
        }
    }

    private func file(of entry: RootEntry) -> String { "\(folder)/\(entry.name).\(layout.ending)" }

    private func isInBundle(_ entry: RootEntry) -> Bool {
        guard let octets = try? LocalFile.bytes(at: bundle, atMost: Self.bundleLimit) else {
            return false
        }
        return Certificate.reading(pem: octets)?.contains(entry.certificate) ?? false
    }

    private var updating: Tool? {
        // Fedora's tool works only on the system that it runs in, so another tree needs `chroot`.
        Tool(layout == .fedora && !root.isRunning ? "chroot" : layout.program, in: environment)
    }

    private func update(isRemoval: Bool) throws(TrustStoreError) {
        guard let tool = updating else { throw TrustStoreError("\(layout.program) was not found") }
        let outcome = tool.run(arguments(isRemoval: isRemoval))
        if outcome.code != 0 { throw TrustStoreError(tool, outcome) }
    }

    private func arguments(isRemoval: Bool) -> [String] {
        switch layout {
        case .fedora: return root.isRunning ? ["extract"] : [root.path, layout.program, "extract"]
        case .debian:
            // Without `--fresh`, links to removed certificates stay.
            let fresh = isRemoval ? ["--fresh"] : []
            if root.isRunning { return fresh }
            // If the file system belongs to an image, its hooks must not run on this system. The path of a hooks folder that does
            // not exist disables them.
            return fresh + [
                "--certsconf", place("/etc/ca-certificates.conf"), "--certsdir", place(layout.packaged), "--localcertsdir",
                folder,
                "--etccertsdir", place("/etc/ssl/certs"), "--hooksdir", "/dev/null",
            ]
        }
    }
}
