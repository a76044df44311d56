import CertificateAuthority
import Foundation
import ServerTrust

extension Diagnosis {
    /// The authority by which these settings intercept.
    func authority(_ loaded: LoadedSettings, at now: POSIXTime) -> Finding {
        guard loaded.settings.tls.namesInterception else {
            return Finding("authority", .good, "none is needed: these settings intercept nothing")
        }
        let settings = loaded.settings.tls.authority
        guard let folder = settings.folder.map({ AuthorityFolder(path: $0) }) ?? AuthorityFolder(environment) else {
            return Finding("authority", .bad, "HOME is not set, and nothing else says where it stands", remedy: "export HOME=~")
        }
        let prefix = settings.folder == nil ? "" : " --folder \(Shell.word(folder.path))"
        do throws(AuthorityFolderFault) {
            let roots = try folder.roots(at: now)
            let ended = try folder.profile(roots.signing).hasEnded(at: now)
            if ended {
                let day = roots.signing.certificate.notAfter.map { "\(CalendarDay(of: $0))" } ?? "a day that cannot be read"
                return Finding(
                    "authority", .bad, "its root has ended with \(day): nobody believes what it certifies",
                    remedy: "larder ca rotate\(prefix) && larder ca rotate --finish\(prefix) && larder reload")
            }
            if let first = roots.signing.certificate.notBefore, now < first {
                return Finding(
                    "authority", .bad, "its root begins with \(CalendarDay(of: first)): the clock is behind",
                    remedy: Self.clockRemedy)
            }
            var passphrase: [UInt8]?
            if let file = settings.passphraseFile { passphrase = try PassphraseFile.read(file) }
            _ = try folder.authority(roots.signing.seat, passphrase: passphrase)
            return Finding("authority", .good, folder.path)
        } catch {
            return Finding("authority", .bad, error.reason, remedy: remedy(for: folder, prefix))
        }
    }

    /// By what stands there, and not by the fault's words.
    private func remedy(for folder: AuthorityFolder, _ prefix: String) -> String? {
        let seats = [AuthorityFolder.Seat.current, .next]
        guard seats.contains(where: { folder.exists(folder.rootPath($0)) }) else { return "larder ca init\(prefix)" }
        let present = seats.filter { folder.exists(folder.rootPath($0)) }
        let folders = [folder.path] + present.map { "\(folder.path)/\($0.rawValue)" }
        let files = present.flatMap { [folder.rootPath($0), folder.keyPath($0)] }.filter(folder.exists)
        let wrong =
            folders.filter { Self.mode(of: $0) != 0o700 }.map { ("700", $0) }
            + files.filter { Self.mode(of: $0) != 0o600 }
            .map { ("600", $0) }
        if !wrong.isEmpty { return wrong.map { "chmod \($0) \(Shell.word($1))" }.joined(separator: " && ") }
        return "rm -r \(Shell.word(folder.path)) && larder ca init\(prefix)"
    }

    private static func mode(of path: String) -> mode_t {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts.st_mode & 0o7777 : 0
    }
}

extension TrustSettings {
    /// Whether any host is to be intercepted, as it is written.
    var namesInterception: Bool {
        if case .policy(let terms) = fallback.meaning, terms.connect == .intercept { return true }
        return hosts.entries.contains { $0.terms.connect == .intercept }
    }
}
