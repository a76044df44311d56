import CommandSupport
import Foundation
import LarderSettings
import ServerTrust

/// The folder of `tls.pins_from`, to which files for further servers are added.
package struct PinsFolder {
    package struct Refusal: Error { package let reason: String }

    private let trust: LoadedTrust

    package init(_ trust: LoadedTrust) { self.trust = trust }

    /// The first line of written files.
    private static let header = "# Written by larder pins learn; larder pins rotate changes it.\n"

    /// Writes the files with the settings for a server that has no policy yet: all files, or none.
    /// - Parameter isEnforced: whether the new pins are enforced; report-only pins must not replace enforced ones.
    /// - Returns: the path of the settings file.
    package func add(_ learned: LearnedPins, isEnforced: Bool) throws(Refusal) -> String {
        guard let folder = trust.pinsFolder else {
            throw Refusal(
                reason: "nothing written: tls.pins_from names no folder; without --write the settings are printed")
        }
        let server = learned.server
        if let site = trust.ownSite(of: server) {
            throw Refusal(
                reason:
                    "nothing written: \(server.title) already has a policy, at \(site.position); "
                    + "add the pins there (to print them, omit --write)"
            )
        }
        if let site = trust.pinningSite(of: server), !isEnforced, site.terms.pins?.enforcement != .reported {
            let reason =
                "has enforced pins from \(site.entry?.name ?? "tls.default"), at \(site.position), which would no longer apply"
            throw Refusal(reason: "nothing written: \(server.title) \(reason); use --mode enforce")
        }
        // The folder was read just before.
        let names = (try? LocalFile.names(in: folder, endings: TrustFiles.includedEndings)) ?? []
        if names.count >= TrustFiles.includedLimit {
            throw Refusal(reason: "nothing written: \(folder) already has \(names.count) files, and Larder reads no more")
        }
        let stem = "\(folder)/\(server.fileStem)"
        if let anchor = learned.anchor { try Self.write(anchor, to: "\(stem).pem") }
        do throws(Refusal) {
            try Self.write(Self.header + learned.settings, to: "\(stem).yaml")
        } catch {
            // The file did not exist before.
            if learned.anchor != nil { unlink("\(stem).pem") }
            throw error
        }
        return "\(stem).yaml"
    }

    private static func write(_ text: String, to path: String) throws(Refusal) {
        do throws(WholeFile.Unwritten) {
            try WholeFile.write(text, to: path, replaces: false)
        } catch {
            throw Refusal(reason: "cannot write \(path): \(error.reason)")
        }
    }
}

extension LoadedTrust {
    /// The location of the policy for this server alone; `nil` if the server has no policy of its own.
    package func ownSite(of server: NamedServer) -> SettingsLocation? {
        guard let scope = HostScope(host: server.host, port: server.port) else { return nil }
        return sites.first { $0.entry?.scope == scope }
    }

    /// The location of the pins that apply to this server, even if they also apply to other servers.
    package func pinningSite(of server: NamedServer) -> SettingsLocation? {
        let site = site(host: server.host, port: server.origin.port)
        return site.terms.pins == nil ? nil : site
    }
}

extension NamedServer {
    /// The name of the server's files in the folder, without extensions.
    var fileStem: String {
        let host = String(host.map { $0 == ":" ? "_" : $0 })
        return port.map { "\(host)_\($0)" } ?? host
    }
}
