import CommandSupport
import FoundationEssentials
import Glibc
import LarderSettings
import TextCoding

/// Where the admin socket of these settings stands: for `serve`, which makes it, and for the verbs that speak to it.
///
/// The usual name holds the port, so that one user may run several: `admin-3180.sock` of a Larder whose first listener has port 3180.
package enum AdminSocketPath {
    /// What a verb finds.
    package enum Found: Equatable {
        /// There is to be none, or nothing says where it could stand.
        case none
        /// Whether a Larder answers there is not known yet.
        case path(String)
        /// Several Larders answer, and the settings name none of them.
        case several([String])
    }

    /// Of a Larder that listens.
    /// - Parameter port: that of its first listener, as bound.
    /// - Returns: an absolute path; `nil` where there is to be none, or nothing says where it could stand.
    package static func of(
        _ settings: LarderSettings, _ environment: [String: String], port: UInt16, isRoot: Bool = geteuid() == 0
    ) -> String? {
        switch settings.admin.socket {
        case .off: nil
        case .path(let path): URL(filePath: path).path
        case .auto: ofPort(port, environment, isRoot: isRoot)
        }
    }

    /// Of the Larder that a command asks: the one on the port that the settings name, if it answers, else the only one that does. A Larder that was
    /// started with `--listen` has another port than the settings, and is found too.
    package static func find(
        _ settings: LarderSettings, _ environment: [String: String], isRoot: Bool = geteuid() == 0,
        answers: (String) -> Bool = { (try? AdminClient(path: $0)) != nil }
    ) -> Found {
        // One that the system chose is not known.
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

    /// Of the Larder whose first listener has this port, and of no other.
    /// - Returns: `nil` where nothing says where it could stand.
    package static func ofPort(_ port: UInt16, _ environment: [String: String], isRoot: Bool = geteuid() == 0) -> String? {
        folder(environment, isRoot: isRoot).map { "\($0)/\(name(ofPort: port))" }
    }

    /// Why none of several is asked.
    package static func several(_ paths: [String]) -> String {
        "several Larders are running, at \(printable(paths.joined(separator: ", "), limit: 4096)); choose one with LARDER_ADMIN_SOCKET=PATH, "
            + "or with --socket or --listen if the command has these options"
    }

    private static let formerName = "admin.sock"

    private static func name(ofPort port: UInt16) -> String { "admin-\(port).sock" }

    /// In order of their ports; last the name that Larder gave the socket before it had the port in it.
    private static func names(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // none is there
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
