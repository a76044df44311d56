import Foundation

/// What stands for `/`: that of the running system, or a tree out of which nothing leads.
package struct SystemRoot {
    package static let running = SystemRoot(path: "")
    /// As Linux has it (path_resolution(7)).
    static let linkLimit = 40

    /// Empty for the running system.
    let path: String

    package init(path: String) { self.path = path }

    package var isRunning: Bool { path.isEmpty }

    /// A place behind all links, each of which is followed as who runs in the tree would: `/` is the tree's, and nothing is above it.
    /// - Parameter place: as it is called in the tree. What is not there stands for itself.
    /// - Returns: `nil` behind too many links.
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
                guard let target = try? FileManager.default.destinationOfSymbolicLink(atPath: here) else {  // is no link
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

    /// What is there, of a path in the tree in which `*` stands for any one name: behind its links, each once, in order.
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
                let names = (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? []  // none to be seen is none
                return names.sorted().map { "\(folder)/\($0)" }
            }
        }
        return found.compactMap(resolved).filter { FileManager.default.fileExists(atPath: $0) }
    }
}
