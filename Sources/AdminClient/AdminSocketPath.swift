import CommandSupport
import FoundationEssentials
import Glibc
import HTTPMessage
import LarderSettings
import ProxyAdmin
import TextCoding

/// The path of the admin socket for these settings, for `serve`, which creates it, and for the commands that connect to it.
///
/// The default name contains the port of the first listener, so that one user can run several instances: `admin-3180.sock` for port 3180.
/// If the listener's address is not 127.0.0.1 or 0.0.0.0, the name contains the address too: `admin-3180-127.0.0.2.sock`.
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
    /// - Parameter listener: the address and port that its first listener is bound to.
    /// - Returns: an absolute path; `nil` if the admin socket is off, or there is no directory for it.
    package static func of(
        _ settings: LarderSettings, _ environment: [String: String], listener: ListenAddress, isRoot: Bool = geteuid() == 0
    ) -> String? {
        switch settings.admin.socket {
        case .off: nil
        case .path(let path): URL(filePath: path).path
        case .auto: of(listener, environment, isRoot: isRoot)
        }
    }

    /// The socket that a command should use. It is the one for the listener in the settings, if a Larder listens there, else the
    /// only one on which a Larder listens. This also finds a Larder that was started with `--listen` and so has an address other than
    /// that in the settings.
    package static func find(
        _ settings: LarderSettings, _ environment: [String: String], isRoot: Bool = geteuid() == 0,
        answers: (String) -> Bool = { (try? AdminClient(path: $0)) != nil }
    ) -> Found {
        // Port 0 lets the system choose a port, which is not known here.
        let named = settings.listen.first.flatMap { $0.port > 0 ? $0 : nil } ?? ListenAddress.defaults[0]
        guard let usual = of(settings, environment, listener: named, isRoot: isRoot) else { return .none }
        guard settings.admin.socket == .auto, !answers(usual) else { return .path(usual) }
        let running = running(environment, isRoot: isRoot, answers: answers)
        switch running.count {
        case 0: return .path(usual)
        case 1: return .path(running[0])
        default: return .several(running)
        }
    }

    /// The sockets in the usual folder on which a Larder listens.
    package static func running(
        _ environment: [String: String], isRoot: Bool = geteuid() == 0,
        answers: (String) -> Bool = { (try? AdminClient(path: $0)) != nil }
    ) -> [String] {
        guard let folder = folder(environment, isRoot: isRoot) else { return [] }
        return names(in: folder).map { "\(folder)/\($0)" }.filter(answers)
    }

    /// The path for the Larder whose first listener is this one.
    /// - Returns: `nil` if there is no directory for it.
    package static func of(
        _ listener: ListenAddress, _ environment: [String: String], isRoot: Bool = geteuid() == 0
    ) -> String? {
        folder(environment, isRoot: isRoot).map { "\($0)/\(name(of: listener))" }
    }

    /// The path for the Larder with this port, at whatever address: the one for 127.0.0.1 if it is there or if no other is, else the
    /// only other one.
    package static func ofPort(_ port: UInt16, _ environment: [String: String], isRoot: Bool = geteuid() == 0) -> String? {
        guard let folder = folder(environment, isRoot: isRoot) else { return nil }
        let usual = name(of: ListenAddress(address: .loopbackIPv4, port: port))
        let others = names(in: folder).filter { listener(of: $0)?.port == port }
        return "\(folder)/\(others.count == 1 ? others[0] : usual)"
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

    private static func name(of listener: ListenAddress) -> String {
        // No two processes can listen on 127.0.0.1 and 0.0.0.0 with the same port.
        let isUsual = listener.address == .loopbackIPv4 || listener.address.isUnspecified && listener.address.family == .ipv4
        return isUsual ? "admin-\(listener.port).sock" : "admin-\(listener.port)-\(listener.address).sock"
    }

    /// The listener with this name; `nil` if the name is not one that `name(of:)` returns.
    private static func listener(of name: String) -> ListenAddress? {
        guard name.hasPrefix("admin-"), name.hasSuffix(".sock") else { return nil }
        let parts = name.dropFirst("admin-".count).dropLast(".sock".count).split(separator: "-", maxSplits: 1)
        guard let port = parts.first.flatMap({ UInt16($0) }),
            let address = parts.count == 2 ? IPAddress(String(parts[1])) : .loopbackIPv4
        else { return nil }
        let listener = ListenAddress(address: address, port: port)
        return Self.name(of: listener) == name ? listener : nil
    }

    /// The names of the sockets in the order of their ports. The last is the name without a port that earlier versions used.
    private static func names(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // the folder may not exist yet
        let listeners = names.compactMap(listener)
        return listeners.sorted { ($0.port, $0.address.description) < ($1.port, $1.address.description) }.map(name)
            + (names.contains(formerName) ? [formerName] : [])
    }

    private static func folder(_ environment: [String: String], isRoot: Bool) -> String? {
        let folders = UserFolders(environment)
        return folders.runtime ?? (isRoot ? "/run/larder" : folders.state)
    }
}
