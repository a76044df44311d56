import Foundation

/// The root folder of the running system, or of another tree. No path or link in a tree leads out of it.
package struct SystemRoot {
    package static let running = SystemRoot(path: "")
    /// The maximum number of symbolic links that Linux follows in one path (path_resolution(7)).
    static let linkLimit = 40

    /// The path of the tree; empty for the running system.
    let path: String

    package init(path: String) { self.path = path }

    package var isRunning: Bool { path.isEmpty }

    /// Resolves all symbolic links like a process whose `/` is the tree's root.
    /// - Parameter place: the path in the tree. Missing parts stay unchanged.
    /// - Returns: `nil` if there are too many links.
    package func resolved(_ place: String) -> String? {
        var open = Array(place.split(separator: "/").map(String.init).reversed())
        var walked: [String] = []
        var links = 0
        while let part = open.popLast() {
            switch part {
            case ".": continue
            case "..": _ = walked.popLast()
            default:
                let here = "\(path)/\((walked + [part]).joined(separator: "/"))"
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: here) else {  // not a symbolic link
                    walked.append(part)
                    continue
                }
                links += 1
                guard links <= Self.linkLimit else { return nil }
                if target.hasPrefix("/") { walked = [] }
                open += target.split(separator: "/").map(String.init).reversed()
            }
        }
        return "\(path)/\(walked.joined(separator: "/"))"
    }

    /// The existing paths that match patterns in which `*` matches any one name: with links resolved, without duplicates, in order.
    func matches(_ patterns: [String]) -> [String] {
        var seen: Set<String> = []
        return patterns.flatMap(matches).filter { seen.insert($0).inserted }
    }

    private func matches(_ pattern: String) -> [String] {
        var found = [""]
        for part in pattern.split(separator: "/") {
            found = found.flatMap { folder -> [String] in
                if part != "*" { return ["\(folder)/\(part)"] }
                guard let place = resolved(folder) else { return [] }
                // An unreadable folder has no entries.
                let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []
                return names.sorted().map { "\(folder)/\($0)" }
            }
        }
        return found.compactMap(resolved).filter { FileManager.default.fileExists(atPath: $0) }
    }
}
