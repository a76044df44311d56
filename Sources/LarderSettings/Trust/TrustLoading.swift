import CertificateAuthority
import CommandSupport
import Foundation
import LocalCA
import ProxyPolicy
import ServerTrust
import TextCoding
import UpstreamTransport

/// Reads the files that `tls:` names, once. Afterwards each policy is loaded, or has a problem with file, line and column.
struct TrustLoading {
    private let files: TrustFiles
    private var material: TrustMaterial
    private var located: [LocatedProblem] = []
    private var entries: [TrustPolicySet.Entry] = []
    private var pinned: [PinnedHost] = []
    private var sites: [SettingsLocation] = []
    private var pinsFolder: String?
    private var ways: [(HostScope, ConnectWay)] = []
    /// Whether the default policy intercepts. Then Larder also intercepts hosts whose policies do not set `connect`, and still checks
    /// their pins.
    private var interceptsUsually = false
    private var identities = HostTable<ClientIdentity>()
    private var keyLog: KeyLog?
    private var authority: LocalAuthority?
    private var remarks: [TrustWarning] = []
    /// The position of each entry, for messages about duplicate entries.
    private var positions: [HostScope: String] = [:]

    private init(files: TrustFiles) {
        self.files = files
        material = TrustMaterial(files: files)
    }

    /// - Returns: the problems. If there are none, `settings.loaded` is set.
    static func load(
        _ settings: inout TrustSettings, files: TrustFiles, needsAuthority: Bool = false, origins: [String: SettingsReader.Origin]
    ) -> [LocatedProblem] {
        func origin(_ name: String) -> SettingsReader.Origin {
            origins[name] ?? SettingsReader.Origin(layer: "settings", place: .none)
        }
        var loading = TrustLoading(files: files)
        if case .policy(let terms) = settings.fallback.meaning {
            loading.interceptsUsually = files.connectWay(of: terms) == .intercept
        }
        loading.add(settings.hosts.entries, from: origin("tls.hosts"))
        if let folder = settings.pinsFrom { loading.addFiles(of: folder, from: origin("tls.pins_from")) }
        loading.add(settings.projectHosts)
        loading.add(settings.clientCertificates.entries, from: origin("tls.client_certificates"))
        let fallback = loading.fallback(settings.fallback, isWritten: origins["tls.default"] != nil, origin("tls.default"))
        // The key log is opened last, so that settings with another problem do not create its file.
        if let path = settings.keyLog, loading.located.isEmpty { loading.openKeyLog(path, from: origin("tls.key_log")) }
        if needsAuthority || fallback?.way == .intercept || loading.ways.contains(where: { $0.1 == .intercept }) {
            loading.loadAuthority(
                settings.authority, origin("tls.authority.folder"), passphrase: origin("tls.authority.passphrase_file"))
        }
        guard loading.located.isEmpty, let fallback else { return loading.located }
        do throws(TrustPolicyFault) {
            var connect = ConnectPolicy(fallback: fallback.way)
            // On a machine without CA certificates, the default policy denies too. Only a `deny` in the settings counts here.
            if case .deny = fallback.policy { connect.deniesUnnamedHosts = fallback.way == .deny }
            for (scope, way) in loading.ways { connect.insert(way, for: scope) }
            for host in settings.connect.neverIntercept { NeverIntercept.scope(host).map { connect.exceptFromInterception($0) } }
            connect.interceptsHTTP2 = settings.connect.http2 == .auto
            connect.tunnelsOtherProtocols = settings.connect.otherProtocols == .tunnel
            connect.refusalsKeptMilliseconds = Int(clamping: settings.connect.refusalsKept.wholeMilliseconds)
            connect.keptMilliseconds = Int(clamping: settings.connect.verdictTTL.wholeMilliseconds)
            connect.allowsMissingName = settings.connect.missingName == .allow
            connect.allowsEncryptedHello = settings.connect.encryptedHello == .allow
            settings.loaded = LoadedTrust(
                policies: try TrustPolicySet(loading.entries, fallback: fallback.policy), identities: loading.identities,
                keyLog: loading.keyLog, pinned: loading.pinned, sites: loading.sites,
                fallbackSite: loading.fallbackSite(settings.fallback, origin("tls.default")), pinsFolder: loading.pinsFolder,
                connect: connect, authority: loading.authority, remarks: loading.remarks)
        } catch {
            preconditionFailure("hosts were read, and their repetition found, before: \(error)")
        }
        return []
    }

    private mutating func report(_ message: String, path: String, at place: SettingsPlace, in origin: SettingsReader.Origin) {
        located.append(LocatedProblem(source: origin.layer, problem: SettingsProblem(message, path: path, at: place)))
    }

    // MARK: Hosts

    private func fallbackSite(_ fallback: TrustSettings.Fallback, _ origin: SettingsReader.Origin) -> SettingsLocation {
        var terms = TrustTerms()
        if case .policy(let written) = fallback.meaning { terms = written }
        return SettingsLocation(entry: nil, terms: terms, origin: origin, isIncluded: false)
    }

    private mutating func add(_ hosts: [TrustEntry], from origin: SettingsReader.Origin, isIncluded: Bool = false) {
        for host in hosts {
            let position = LocatedProblem.position(of: host.place, in: origin.layer)
            if let first = positions.updateValue(position, forKey: host.scope) {
                report("these hosts already have a policy, at \(first)", path: host.path, at: host.place, in: origin)
                continue
            }
            let subject = "\(host.path) (\(position))"
            guard let made = policy(host.terms, subject: subject, position: position, from: origin) else { continue }
            let policy = made.policy
            entries.append(
                TrustPolicySet.Entry(host: host.host, labels: host.terms.labels ?? .all, port: host.port, policy: policy))
            if let pins = policy.pins { pinned.append(PinnedHost(host, pins, liveCount: made.livePinCount)) }
            sites.append(SettingsLocation(entry: host, terms: host.terms, origin: origin, isIncluded: isIncluded))
            let way = interceptsUsually && host.terms.connect == nil ? .intercept : files.connectWay(of: host.terms)
            ways.append((host.scope, way))
        }
    }

    /// Adds the policies of a project's hosts. The user's policy for a host takes precedence, whether it covers more hosts or fewer.
    private mutating func add(_ hosts: [TrustSettings.ProjectHost]) {
        let users = positions
        for host in hosts {
            let entry = host.entry
            if let (_, position) = users.filter({ $0.key.overlaps(entry.scope) }).min(by: { $0.value < $1.value }) {
                let reason = "your settings have a policy for this host, at \(position)"
                report(
                    "a project may not set this: \(reason); \(ProjectTerms.remedy)", path: entry.path, at: entry.place,
                    in: host.origin)
            } else {
                add([entry], from: host.origin)
            }
        }
    }

    private mutating func add(_ certificates: [ClientCertificateEntry], from origin: SettingsReader.Origin) {
        for entry in certificates {
            var problems = SettingsProblems()
            if let identity = entry.identity(files.environment, from: origin, problems: &problems) {
                _ = identities.insert(identity, for: entry.scope)
            }
            located += problems.all.map { LocatedProblem(source: origin.layer, problem: $0) }
        }
    }

    private mutating func loadAuthority(
        _ settings: TrustSettings.Authority, _ origin: SettingsReader.Origin, passphrase passphraseOrigin: SettingsReader.Origin
    ) {
        if let given = files.authority { return authority = given }
        do throws(AuthorityFolderError) {
            var passphrase: [UInt8]?
            if let file = settings.passphraseFile {
                passphrase = try PassphraseFile.read(passphraseOrigin.path(of: file))
            }
            let named = settings.folder.map { AuthorityFolder(path: origin.path(of: $0)) }
            guard let folder = named ?? AuthorityFolder(files.environment) else {
                throw AuthorityFolderError("the CA's folder is unknown: HOME is not set")
            }
            authority = try folder.authority(try folder.roots(at: .now).signing.seat, passphrase: passphrase)
        } catch {
            report("interception needs a CA: \(error.reason)", path: "tls.authority.folder", at: origin.place, in: origin)
        }
    }

    private mutating func openKeyLog(_ name: String, from origin: SettingsReader.Origin) {
        let path = origin.path(of: name)
        do throws(KeyLog.Failure) {
            if files.opensKeyLog { keyLog = try KeyLog(path: path) } else { try KeyLog.check(path: path) }
            let position = LocatedProblem.position(of: origin.place, in: origin.layer)
            remarks.append(TrustWarning(subject: "tls.key_log (\(position))", matter: .keyLog))
        } catch {
            let reason =
                error.code == EPERM
                ? "only the file's owner may have access to the file: restrict it with `chmod 600`"
                : String(cString: strerror(error.code))
            let message = "cannot write \(printable(path, limit: 4096)): \(reason)"
            report(message, path: "tls.key_log", at: origin.place, in: origin)
        }
    }

    private mutating func addFiles(of folder: String, from origin: SettingsReader.Origin) {
        let folder = origin.path(of: folder)
        pinsFolder = folder
        do throws(LocalFile.Unreadable) {
            let names = try LocalFile.names(in: folder, endings: TrustFiles.includedEndings)
            // If a folder or file was emptied by mistake, Larder would trust its hosts without their pins.
            if names.isEmpty, !files.allowsEmptyFolder {
                throw LocalFile.Unreadable(
                    reason:
                        "the folder contains no file that ends with \(TrustFiles.includedEndings.joined(separator: " or ")); "
                        + "larder pins learn --write writes one"
                )
            }
            guard names.count <= TrustFiles.includedLimit else {
                throw LocalFile.Unreadable(reason: "the folder contains more than \(TrustFiles.includedLimit) files")
            }
            for name in names { addFile("\(folder)/\(name)", folder: folder) }
        } catch {
            let message = "cannot use the folder \(printable(folder, limit: 4096)): \(error.reason)"
            report(message, path: "tls.pins_from", at: origin.place, in: origin)
        }
    }

    private mutating func addFile(_ path: String, folder: String) {
        var problems = SettingsProblems()
        do throws(SettingsProblems) {
            let root = try SettingsFile.node(at: path)
            let hosts = TrustEntry.reading(SettingsCursor(root), problems: &problems) ?? []
            if hosts.isEmpty, problems.isEmpty { problems.add("the file contains no host", path: "", at: root.place) }
            if problems.isEmpty {
                add(hosts, from: SettingsReader.Origin(layer: path, folder: folder, place: root.place), isIncluded: true)
            }
        } catch {
            problems = error
        }
        located += problems.all.map { LocatedProblem(source: path, problem: $0) }
    }

    /// - Returns: `nil` after a problem.
    private mutating func fallback(
        _ fallback: TrustSettings.Fallback, isWritten: Bool, _ origin: SettingsReader.Origin
    ) -> (policy: TrustPolicySet.Fallback, way: ConnectWay)? {
        guard case .policy(let terms) = fallback.meaning else { return (.deny, .deny) }
        // A machine without CA certificates trusts no server, but Larder still serves requests that need no certificates.
        do throws(LocalFile.Unreadable) {
            if !isWritten, try !material.hasSystemAnchors() {
                remarks.append(TrustWarning(subject: "tls.default", matter: .noSystemAnchors))
                return (.deny, files.connectWay(of: terms))
            }
        } catch {
            let message = "cannot read the system's CA certificates: \(error.reason)"
            let problem = SettingsProblem(message, path: "tls.default", at: origin.place)
            located.append(LocatedProblem(source: origin.layer, problem: problem))
            return nil
        }
        let position = isWritten ? LocatedProblem.position(of: origin.place, in: origin.layer) : ""
        return policy(terms, subject: "tls.default", position: position, from: origin)
            .map { (.policy($0.policy), files.connectWay(of: terms)) }
    }

    /// - Returns: `nil` after a problem.
    private mutating func policy(
        _ terms: TrustTerms, subject: String, position: String, from origin: SettingsReader.Origin
    ) -> TrustMaterial.Made? {
        var problems = SettingsProblems()
        guard let made = material.policy(terms, source: position, from: origin, problems: &problems) else {
            located += problems.all.map { LocatedProblem(source: origin.layer, problem: $0) }
            return nil
        }
        if let until = terms.until {
            let meanings = terms.weaknesses.map(\.meaning)
            remarks.append(TrustWarning(subject: subject, matter: .weakened(meanings: meanings, until: until)))
        }
        if let pins = terms.pins, let expires = pins.expires {
            remarks.append(TrustWarning(subject: subject, matter: .pinsExpire(expires, pins.onExpiry)))
        }
        return made
    }
}
