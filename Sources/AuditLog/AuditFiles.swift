import Glibc

/// The files of an audit log: the newest one at the log's path, and the older ones beside it, such as `audit.ndjson.000000001234`, named
/// after their last line.
package enum AuditFiles {
    private static let digitCount = 12

    static func rotatedPath(of path: String, last: UInt64) -> String {
        let digits = "\(last)"
        return "\(path).\(String(repeating: "0", count: max(0, digitCount - digits.utf8.count)))\(digits)"
    }

    /// The older files, oldest first.
    package static func rotated(of path: String) -> [String] {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        let name = String(parts.last ?? "")
        let folder = parts.count > 1 ? parts.dropLast().joined(separator: "/") + "/" : "./"
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var found: [(number: UInt64, path: String)] = []
        while let entry = readdir(stream) {
            let file = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard file.hasPrefix(name + "."), case let digits = file.dropFirst(name.count + 1), digits.count >= digitCount,
                digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = UInt64(digits)
            else { continue }
            found.append((number, (parts.count > 1 ? folder : "") + file))
        }
        return found.sorted { $0.number < $1.number }.map(\.path)
    }
}
