import Foundation

/// The code that only a start needs: settings, command line, relocations, the set-up of libraries.
enum StartUpCode {
    /// Lets the kernel take the pages of code out of this process: those that serving needs come back from the file's cache, a
    /// few at a time, and the rest (some 17 MiB of them) stays out.
    ///
    /// Only executable mappings of files, which nobody has written to, so that what comes back is what was there.
    static func letGo() {
        guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return }
        let mappings = maps.split(separator: "\n").compactMap(codeMapping)
        for mapping in mappings {
            // Refused, it leaves everything as it is.
            _ = madvise(UnsafeMutableRawPointer(bitPattern: mapping.lowerBound), mapping.count, MADV_DONTNEED)
        }
    }

    /// The range of a line like `55d0c8a00000-55d0ca100000 r-xp 00000000 08:01 1234 /usr/bin/larder`.
    private static func codeMapping(_ line: Substring) -> Range<UInt>? {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 6, words[1] == "r-xp", words[5].hasPrefix("/") else { return nil }
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard ends.count == 2, ends[0] < ends[1] else { return nil }
        return ends[0]..<ends[1]
    }
}
