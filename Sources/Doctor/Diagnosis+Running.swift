import AdminClient
import CommandEnvironment
import EventLoop
import Foundation
import LarderSettings
import ProxyServer
import TextCoding

extension Diagnosis {
    /// Checks the running Larder, with the environment for programs.
    /// - Parameter folder: the folder for the files that the programs need.
    package func running(_ loaded: LoadedSettings, _ folder: PrivateFolder) -> (finding: Finding, larder: AttachedProxy?) {
        func found(_ outcome: Finding.Outcome, _ explanation: String, _ remedy: String? = nil) -> (Finding, AttachedProxy?) {
            (Finding("larder", outcome, explanation, remedy: remedy), nil)
        }
        let path: String
        switch AdminSocketPath.find(loaded.settings, environment) {
        case .path(let found): path = found
        case .several(let paths):
            return found(.notable, AdminSocketPath.several(paths), "export LARDER_ADMIN_SOCKET=\(ShellWord.of(paths[0]))")
        case .none:
            guard loaded.settings.admin.socket == .off else {
                return found(.bad, "the path of the admin socket is unknown", "export HOME=~; larder serve &")
            }
            let remedy = environment["LARDER_ADMIN_SOCKET"] == nil ? Self.edit(loaded) : "unset LARDER_ADMIN_SOCKET"
            return found(
                .notable, "admin.socket is off: a running Larder cannot be queried, and larder doctor cannot try programs", remedy
            )
        }
        do throws(AdminClient.Failure) {
            let client = try AdminClient(path: path)
            do throws(AttachedProxy.Failure) {
                let larder = try AttachedProxy(client, over: environment, filesIn: .of(folder))
                let https = larder.intercepts ? "https is intercepted" : "https is tunneled"
                return (Finding("larder", .good, "Larder is running on \(larder.environment.proxy); \(https)"), larder)
            } catch {
                switch error.matter {
                case .otherVersion: return found(.bad, "\(error)", "larder stop; larder serve &")
                case .listeners: return found(.notable, "\(error): larder doctor cannot try programs", Self.edit(loaded))
                case .files, .answer: return found(.bad, "\(error)")
                }
            }
        } catch {
            guard case .notRunning = error else { return found(.bad, "Larder is running, but cannot be queried: \(error)") }
            if let (address, reason) = loaded.settings.listen.lazy.compactMap(Self.obstacle).first {
                return found(
                    .bad, "Larder is not running and could not start: cannot listen on \(address): \(reason)",
                    "larder serve --listen 127.0.0.1:0 &")
            }
            return found(.bad, "Larder is not running: no process answers on \(path)", "larder serve &")
        }
    }

    /// Why `serve` could not listen on an address.
    private static func obstacle(_ address: ListenAddress) -> (ListenAddress, String)? {
        do throws(SystemError) {
            try ListeningSocket(host: "\(address.address)", port: address.port).close()
            return nil
        } catch {
            // On a machine without IPv6, Larder serves without its IPv6 address.
            if address.address.family == .ipv6, error.code == EADDRNOTAVAIL || error.code == EAFNOSUPPORT { return nil }
            return (address, String(cString: strerror(error.code)))
        }
    }
}
