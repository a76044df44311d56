import Foundation

/// The code that only the start needs, for example to parse settings and the command line, and to initialize libraries.
enum StartUpCode {
    /// Lets the kernel evict code pages from this process. The kernel reads back only the pages that serving needs, from the file cache.
    /// The other pages (about 17 MiB) stay out of memory.
    ///
    /// Applies only to executable file mappings, which are never written, so that the same content returns.
    static func letGo() {
        guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return }
        let mappings = maps.split(separator: "\n").compactMap(codeMapping)
        for mapping in mappings {
            // If the kernel refuses, nothing changes.
            _ = madvise(UnsafeMutableRawPointer(bitPattern: mapping.lowerBound), mapping.count, MADV_DONTNEED)
        }
    }

    /// The address range of executable code in a line of `/proc/self/maps` such as `55d0c8a00000-55d0ca100000 r-xp 00000000 08:01 1234
    /// /usr/bin/larder`.
    private static func codeMapping(_ line: Substring) -> Range<UInt>? {
        let words = line.split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 6, words[1] == "r-xp", words[5].hasPrefix("/") else { return nil }
        let ends = words[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard ends.count == 2, ends[0] < ends[1] else { return nil }
        return ends[0]..<ends[1]
    }
}
