import CertificateAuthority
import CommandSupport
import Foundation
import LarderSettings
import LocalCA
import ServerTrust
import TextCoding

extension Diagnosis {
    /// Checks the CA that these settings, or an option of the running Larder, use for interception.
    /// - Parameters:
    ///   - isRunning: whether a running Larder must reload the CA after a change.
    ///   - used: the root that the running Larder uses; `nil` if it does not intercept.
    package func authority(_ loaded: LoadedSettings, at now: POSIXTime, isRunning: Bool, used: Certificate?) -> Finding {
        guard loaded.settings.tls.namesInterception || used != nil else {
            return Finding("authority", .good, "no CA is needed: these settings intercept nothing")
        }
        let settings = loaded.settings.tls.authority
        let named = settings.folder.map { AuthorityFolder(path: Self.path($0, in: loaded)) }
        guard let folder = named ?? AuthorityFolder(environment) else {
            return Finding("authority", .bad, "HOME is not set, so the CA's folder is unknown", remedy: "export HOME=~")
        }
        let option = settings.folder == nil ? "" : " --folder \(ShellWord.of(folder.path))"
        let reload = isRunning ? " && larder reload" : ""
        func remedied(_ fault: AuthorityFolderError, _ remedy: String?) -> Finding {
            Finding("authority", .bad, fault.reason, remedy: remedy.map { $0 + reload })
        }
        let root: AuthorityFolder.Seated
        do throws(AuthorityFolderError) {
            root = try folder.roots(at: now).signing
            if try folder.profile(root).hasEnded(at: now) {
                let day = root.certificate.notAfter.map { "\(CalendarDay(of: $0))" } ?? "an unreadable date"
                return Finding(
                    "authority", .bad, "the root certificate expired on \(day): programs reject the certificates that it issued",
                    remedy: "larder ca rotate\(option) && larder ca rotate --finish\(option)\(reload)")
            }
            if let first = root.certificate.notBefore, now < first {
                return Finding(
                    "authority", .bad,
                    "the root certificate is not valid before \(CalendarDay(of: first)): this machine's clock is slow",
                    remedy: Self.clockRemedy)
            }
        } catch {
            return remedied(error, remedy(for: folder, option))
        }
        let file = settings.passphraseFile.map { Self.path($0, in: loaded) }
        var passphrase: [UInt8]?
        do throws(AuthorityFolderError) {
            if let file { passphrase = try PassphraseFile.read(file) }
        } catch {
            return remedied(error, file.flatMap { remedy(forPassphraseIn: $0) } ?? Self.edit(loaded))
        }
        do throws(AuthorityFolderError) {
            _ = try folder.authority(root.seat, passphrase: passphrase)
            if let used, used != root.certificate {
                return Finding(
                    "authority", .bad,
                    "\(folder.rootPath(root.seat)) was replaced; the running Larder still uses the former root certificate",
                    remedy: "larder reload && \(Self.environmentRemedy)")
            }
            return Finding("authority", .good, folder.path)
        } catch {
            if (try? folder.isLocked(root.seat, passphrase: nil)) == true {  // `remedied` reports other problems
                return remedied(error, file.map(Self.edit) ?? Self.edit(loaded))
            }
            return remedied(error, remedy(for: folder, option))
        }
    }

    /// The command that repairs the folder. It deletes nothing: damaged files are moved aside.
    private func remedy(for folder: AuthorityFolder, _ option: String) -> String? {
        let seats = [AuthorityFolder.OriginSlot.current, .next].filter { folder.exists("\(folder.path)/\($0.rawValue)") }
        guard folder.exists(folder.path), !seats.isEmpty else { return "larder ca init\(option)" }
        let folders = [folder.path] + seats.map { "\(folder.path)/\($0.rawValue)" }
        let files = seats.flatMap { [folder.rootPath($0), folder.keyPath($0)] }.filter(folder.exists)
        let others = (folders + files).filter { Self.facts(of: $0)?.st_uid != geteuid() }
        if !others.isEmpty {
            return "sudo chown \"$(id -u)\" \(others.map(ShellWord.of).joined(separator: " "))"
        }
        let open = (folders.map { ("700", $0) } + files.map { ("600", $0) }).filter { mode, path in
            Self.facts(of: path).map { String($0.st_mode & 0o7777, radix: 8) } != mode
        }
        if !open.isEmpty { return open.map { "chmod \($0) \(ShellWord.of($1))" }.joined(separator: " && ") }
        return "mv \(ShellWord.of(folder.path)) \(ShellWord.of(Self.unused(folder.path + ".bad"))) && larder ca init\(option)"
    }

    /// - Returns: `nil` if the file does not exist, so that the settings must be changed.
    private func remedy(forPassphraseIn file: String) -> String? {
        var facts = stat()
        guard stat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else { return nil }
        if facts.st_uid != geteuid() { return "sudo chown \"$(id -u)\" \(ShellWord.of(file))" }
        return facts.st_mode & 0o777 == 0o600 ? Self.edit(file) : "chmod 600 \(ShellWord.of(file))"
    }

    private static func facts(of path: String) -> stat? {
        var facts = stat()
        return lstat(path, &facts) == 0 ? facts : nil
    }

    private static func unused(_ path: String) -> String {
        var number = 1
        while facts(of: number == 1 ? path : "\(path)\(number)") != nil { number += 1 }
        return number == 1 ? path : "\(path)\(number)"
    }

    /// The path relative to the settings file.
    private static func path(_ name: String, in loaded: LoadedSettings) -> String {
        if name.hasPrefix("/") { return name }
        return URL(filePath: loaded.file ?? "./settings").deletingLastPathComponent().appending(path: name).path
    }
}

extension TrustSettings {
    /// Whether any host is to be intercepted, according to the written settings.
    var namesInterception: Bool {
        if case .policy(let terms) = fallback.meaning, terms.connect == .intercept { return true }
        return hosts.entries.contains { $0.terms.connect == .intercept }
    }
}
