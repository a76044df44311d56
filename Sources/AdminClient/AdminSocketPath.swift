import CommandSupport
import FoundationEssentials
import Glibc
import LarderSettings
import ProxyAdmin
import TextCoding

/// The path of the admin socket for these settings, for `serve`, which creates it, and for the commands that connect to it.
///
/// The default name contains the port, so that one user can run several instances: `admin-3180.sock` for a Larder whose first listener
/// has port 3180.
package enum AdminSocketPath {
    /// The result of a command's search for the admin socket.
    package enum Found: Equatable {
        /// The admin socket is off, or there is no directory for it.
        case none
        /// The path of the socket. It is not known yet whether a Larder listens on it.
        case path(String)
        /// Several Larders are running, and the settings name none of them.
        case several([String])
    }

    /// The path for a Larder that is listening.
    /// - Parameter port: the port that its first listener is bound to.
    /// - Returns: an absolute path; `nil` if the admin socket is off, or there is no directory for it.
    package static func of(
        _ settings: LarderSettings, _ environment: [String: String], port: UInt16, isRoot: Bool = geteuid() == 0
    ) -> String? {
        switch settings.admin.socket {
        case .off: nil
        case .path(let path): URL(filePath: path).path
        case .auto: ofPort(port, environment, isRoot: isRoot)
        }
    }

    /// The socket that a command should use. It is the one for the port in the settings, if a Larder listens there, else the only
    /// one on which a Larder listens. This also finds a Larder that was started with `--listen` and so has a port other than that
    /// in the
    /// settings.
    package static func find(
        _ settings: LarderSettings, _ environment: [String: String], isRoot: Bool = geteuid() == 0,
        answers: (String) -> Bool = { (try? AdminClient(path: $0)) != nil }
    ) -> Found {
        // Port 0 lets the system choose a port, which is not known here.
        let named = settings.listen.first.flatMap { $0.port > 0 ? $0.port : nil } ?? ListenAddress.defaultPort
        guard let usual = of(settings, environment, port: named, isRoot: isRoot) else { return .none }
        guard settings.admin.socket == .auto, !answers(usual), let folder = folder(environment, isRoot: isRoot) else {
            return .path(usual)
        }
        let running = names(in: folder).map { "\(folder)/\($0)" }.filter(answers)
        switch running.count {
        case 0: return .path(usual)
        case 1: return .path(running[0])
        default: return .several(running)
        }
    }

    /// The path for the Larder whose first listener has this port.
    /// - Returns: `nil` if there is no directory for it.
    package static func ofPort(_ port: UInt16, _ environment: [String: String], isRoot: Bool = geteuid() == 0) -> String? {
        folder(environment, isRoot: isRoot).map { "\($0)/\(name(ofPort: port))" }
    }

    /// Removes the sockets in the folder of this socket whose processes have ended. A Larder that was killed leaves its socket there.
    package static func removeLeftOvers(beside path: String) {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        for name in names(in: folder) where "\(folder)/\(name)" != path { AdminSocket.removeLeftOver("\(folder)/\(name)") }
    }

    /// The message if several Larders are running.
    package static func several(_ paths: [String]) -> String {
        "several Larders are running, at \(printable(paths.joined(separator: ", "), limit: 4096)); choose one with LARDER_ADMIN_SOCKET=PATH, "
            + "or with --socket or --listen if the command has these options"
    }

    private static let formerName = "admin.sock"

    private static func name(ofPort port: UInt16) -> String { "admin-\(port).sock" }

    /// The names of the sockets in the order of their ports. The last is the name without a port that earlier versions used.
    private static func names(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // the folder may not exist yet
        let ports = names.compactMap { name in
            UInt16(name.dropFirst("admin-".count).dropLast(".sock".count)).flatMap { Self.name(ofPort: $0) == name ? $0 : nil }
        }
        return ports.sorted().map(name) + (names.contains(formerName) ? [formerName] : [])
    }

    private static func folder(_ environment: [String: String], isRoot: Bool) -> String? {
        let folders = UserFolders(environment)
        return folders.runtime ?? (isRoot ? "/run/larder" : folders.state)
    }
}
