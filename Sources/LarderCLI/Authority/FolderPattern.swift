import Foundation

/// Places in the file system of which a part is not known.
enum FolderPattern {
    /// What is there, of a path in which `*` stands for any one name, in order.
    static func matches(_ pattern: String) -> [String] {
        var found = [""]
        for part in pattern.split(separator: "/") {
            found = found.flatMap { folder -> [String] in
                if part != "*" { return ["\(folder)/\(part)"] }
                let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // none to be seen is none
                return names.sorted().map { "\(folder)/\($0)" }
            }
        }
        return found.filter { FileManager.default.fileExists(atPath: $0) }
    }

    /// Each file once, under its own path, by however many links it is reached.
    static func distinct(_ paths: [String]) -> [String] {
        var seen: Set<String> = []
        return paths.map { URL(filePath: $0).resolvingSymlinksInPath().path }.filter { seen.insert($0).inserted }
    }
}
