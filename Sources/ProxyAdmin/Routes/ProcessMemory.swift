import CLarderLinux
import Glibc

/// The memory that this process uses, according to the kernel and to the allocator.
package enum ProcessMemory {
    /// - Returns: `nil` if /proc does not provide it.
    static func residentBytes() -> Int? { pages()?.resident }

    /// Resident memory that is not backed by a file.
    package static func anonymousBytes() -> Int? { pages().map { $0.resident - $0.shared } }

    /// The bytes that the C library's allocator has allocated, and the bytes that it holds from the system.
    package static func allocator() -> (given: Int, held: Int) {
        var (given, held) = (0, 0)
        larder_allocator_bytes(&given, &held)
        return (given, held)
    }

    private static func pages() -> (resident: Int, shared: Int)? {
        let descriptor = open("/proc/self/statm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { _ = Glibc.close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 128)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return nil }
        // The second and third number of `/proc/self/statm`, in pages: all resident pages, and those backed by files.
        let words = bytes[..<count].split(separator: UInt8(ascii: " "))
        guard words.count > 2, let resident = Int(String(decoding: words[1], as: UTF8.self)),
            let shared = Int(String(decoding: words[2], as: UTF8.self))
        else { return nil }
        let size = sysconf(Int32(_SC_PAGESIZE))
        return (resident * size, shared * size)
    }
}
