import Foundation

/// Where the admin socket of these settings stands: for `serve`, which makes it, and for the verbs that speak to it.
enum AdminSocketPath {
    /// - Returns: an absolute path; `nil` where there is to be none, or nothing says where it could stand.
    static func of(_ settings: LarderSettings, _ environment: [String: String], isRoot: Bool = geteuid() == 0) -> String? {
        switch settings.admin.socket {
        case .off: nil
        case .path(let path): URL(filePath: path).path
        case .auto: folder(environment, isRoot: isRoot).map { "\($0)/admin.sock" }
        }
    }

    private static func folder(_ environment: [String: String], isRoot: Bool) -> String? {
        let folders = UserFolders(environment)
        return folders.runtime ?? (isRoot ? "/run/larder" : folders.state)
    }
}
