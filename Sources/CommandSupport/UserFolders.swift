/// Larder's folders for the user (XDG base directories).
package struct UserFolders: Sendable {
    package let configuration: String?
    package let cache: String?
    package let data: String?
    package let state: String?
    /// The runtime folder; `nil` if no variable names it, because there is no default for it.
    package let runtime: String?

    package init(_ environment: [String: String]) {
        func folder(_ variable: String, _ fallback: String) -> String? {
            // A relative path is ignored, because the XDG specification does not allow it.
            if let path = environment[variable], path.hasPrefix("/") { return "\(path)/larder" }
            guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
            return "\(home)/\(fallback)/larder"
        }
        configuration = folder("XDG_CONFIG_HOME", ".config")
        cache = folder("XDG_CACHE_HOME", ".cache")
        data = folder("XDG_DATA_HOME", ".local/share")
        state = folder("XDG_STATE_HOME", ".local/state")
        runtime = environment["XDG_RUNTIME_DIR"].flatMap { $0.hasPrefix("/") ? "\($0)/larder" : nil }
    }
}
