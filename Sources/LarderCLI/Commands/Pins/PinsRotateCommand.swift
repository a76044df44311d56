import ArgumentParser
import CommandSupport
import LarderSettings
import PinTools
import ProxyAdmin
import ProxyPolicy
import ServerTrust
import TextCoding

extension PinsCommand {
    struct Rotate: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "rotate", abstract: "Add the next key of a host, or retire an old key.",
            discussion: """
                Add the next key as a backup before the server uses it. Retire the old key when the server no longer uses it: \
                --retire connects to the server to check. The command changes a file of tls.pins_from; for other files it prints \
                what to change.

                Exit codes: 0 the pins were written; 1 nothing was written, because the change would make connections fail, or because \
                the file changed in the meantime.
                """)

        @Argument(help: ArgumentHelp("The host as in the settings; put quotes around a pattern.", valueName: "host"))
        var host: String

        @Option(help: ArgumentHelp("The next key: sha256/…, or a file in PEM or DER. Repeatable.", valueName: "pin"))
        var add: [String] = []

        @Option(help: ArgumentHelp("A key that is no longer in use. Repeatable.", valueName: "pin"))
        var retire: [String] = []

        @Flag(help: "Proceed even if no backup pin is left, if all connections would fail, or if Larder cannot check the server.")
        var force = false

        @OptionGroup var options: SettingsOptions

        func validate() throws {
            if add.isEmpty, retire.isEmpty { throw ValidationError("Give --add, --retire or both.") }
        }

        func run() throws {
            let settings = try options.load(trustFiles: TrustFiles()).settings
            let site = try site(in: settings)
            let file = try file(of: site)
            let added = try add.flatMap(PinArgument.digests)
            let retired = try retire.flatMap(PinArgument.digests)
            guard let pins = site.terms.pins, pins.mode == .publicKey, !site.terms.hasPinsForAnchors else {
                throw refuse(
                    "the pins are certificates or trust anchors, which this command cannot rotate: change them by hand, at \(site.position)"
                )
            }
            let shown = retired.isEmpty ? [] : try shownKeys(settings, of: site)
            var rotation = PinRotation(live: site.items(pins.live), backup: site.items(pins.backup))
            do throws(PinRotation.Refusal) {
                try rotation.add(added)
                if !retired.isEmpty { try rotation.retire(retired, shown: shown) }
            } catch {
                throw refuse(error.reason)
            }
            if !force, let fault = rotation.fault(shown: shown) { throw refuse("\(fault); to proceed anyway, use --force") }
            try write(rotation, of: site, to: file)
        }

        private func site(in settings: LarderSettings) throws -> SettingsLocation {
            let sites = settings.tls.loaded?.sites ?? []
            if let (name, port) = TrustEntry.parts(of: host) {
                let scopes = [TrustPolicySet.Entry.Labels.all, .one].compactMap { HostScope(host: name, labels: $0, port: port) }
                let found = sites.filter { $0.entry.map { scopes.contains($0.scope) } == true }
                // Two entries may match this name: in one the star stands for one label, in the other for any number of labels.
                if let site = found.first(where: { $0.entry?.name == host }) ?? found.first, site.terms.pins != nil {
                    return site
                }
                // The argument may be a server's name as messages show it, even if the server's pins are listed under a pattern.
                if let trust = settings.tls.loaded, let site = site(ofServer: name, port, in: trust) {
                    let title = printable(site.entry?.name ?? "tls.default")
                    Terminal.talk("larder: the settings list the pins of \(printable(host)) under \(title)\n")
                    return site
                }
            }
            let names = sites.filter { $0.terms.pins != nil }.compactMap { $0.entry?.name }
            let hint = NearestName.of(host, among: names).map { "; did you mean `\(printable($0))`?" } ?? ""
            Terminal.talk("larder: the settings have no pins for `\(printable(host))`\(hint)\n")
            throw ExitCode(2)
        }

        /// The location of the pins that apply to a server; `nil` if there are none, or if they differ by port.
        private func site(ofServer name: String, _ port: UInt16?, in trust: LoadedTrust) -> SettingsLocation? {
            guard NamedServer(argument: host) != nil else { return nil }
            let ports = port.map { [$0] } ?? [NamedServer.usualPort] + trust.sites.compactMap { $0.entry?.port }
            let found = ports.map { trust.site(host: name, port: $0) }.filter { $0.terms.pins != nil }
            return Set(found.map(\.position)).count == 1 ? found.first : nil
        }

        /// The keys of the chain that the server sends now. A pattern names no server to connect to: the list is then empty, and
        /// `--force` is required.
        private func shownKeys(_ settings: LarderSettings, of site: SettingsLocation) throws -> [SHA256Digest] {
            guard let server = NamedServer(argument: host)?.at(site.entry?.port) else {
                try requireForce("is a pattern")
                return []
            }
            switch try ServerInspector(settings).judge([server]).first {
            case .believed(let verdict): return verdict.chain.map(\.publicKeyDigest)
            case .refused(let failure) where failure.reason == .pinMismatch || failure.reason == .emptyPins:
                return failure.chain.map(\.publicKeyDigest)
            case .refused(let failure): try requireForce("is not trusted (\(failure.reason.rawValue))")
            case .unreachable(let error): try requireForce("cannot be reached (\(error.words))")
            case nil: break
            }
            return []
        }

        private func requireForce(_ reason: String) throws {
            if !force {
                throw refuse(
                    "\(host) \(reason), so Larder cannot tell which key is in use; --force retires the key without this check")
            }
        }

        /// - Returns: `nil` if a person must change the file.
        private func file(of site: SettingsLocation) throws -> PinsFile? {
            guard site.isIncluded, let entry = site.entry, let file = PinsFile(path: site.source) else { return nil }
            guard file.policy(of: entry.name) == .mapping(site.terms.words) else {
                throw refuse("\(site.source): the file has changed in the meantime; nothing written")
            }
            return file
        }

        private func write(_ rotation: PinRotation, of site: SettingsLocation, to file: PinsFile?) throws {
            guard var file, let entry = site.entry else {
                Terminal.talk(
                    "larder: \(printable(site.position, limit: 4096)): Larder does not manage this file; change its pins by hand to:\n"
                )
                Terminal.output(YAMLWriter.write([("pins", .mapping(rotation.words))], indentation: 0))
                throw ExitCode.failure
            }
            file.replacePins(of: entry.name, by: rotation.words)
            do throws(WholeFile.Unwritten) {
                try file.write()
            } catch {
                throw refuse("cannot write \(site.source): \(error.reason)")
            }
            Terminal.talk("larder: wrote \(printable(site.source, limit: 4096)); run larder reload to activate it\n")
        }

        private func refuse(_ reason: String) -> ExitCode {
            Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
            return .failure
        }
    }
}

extension TrustTerms {
    fileprivate var hasPinsForAnchors: Bool {
        if case .pins = anchors { return true }
        return false
    }
}

extension SettingsLocation {
    /// The pinned values, as they were when the settings were read.
    fileprivate func items(_ sources: [PinTerms.Source]) -> [PinRotation.Item] {
        sources.map { source in
            switch source {
            case .digest(let pin, _): PinRotation.Item(pin.publicKeyDigest)
            case .file(let file):
                // Loading the settings has already read this file, so an error here is unlikely and ignored.
                PinRotation.Item(
                    text: file.path,
                    keys: ((try? LocalFile.bytes(at: origin.path(of: file.path), atMost: TrustFiles.pinFileLimit))
                        .flatMap { try? Pin.reading(file: $0) } ?? []).map(\.publicKeyDigest))
            }
        }
    }
}
