import CLarderLinux
import Glibc

/// The address of a Unix socket, in the kernel's form.
package struct UnixAddress {
    /// The longest path, in bytes, without the terminating zero.
    package static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    private var storage = sockaddr_un()
    private var length = socklen_t(MemoryLayout<sockaddr_un>.size)

    /// - Returns: `nil` if the path is empty, too long, or contains a zero byte.
    package init?(path: String) {
        let bytes = Array(path.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.longestPath, !bytes.contains(0) else { return nil }
        storage.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &storage.sun_path) { $0.copyBytes(from: bytes) }
    }

    /// A name in the abstract namespace, which no file has (unix(7)).
    /// - Parameter name: without the leading zero byte.
    /// - Returns: `nil` if the name is empty, too long, or contains a zero byte.
    package init?(abstract name: String) {
        let bytes = Array(name.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.longestPath, !bytes.contains(0) else { return nil }
        storage.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &storage.sun_path) { $0[1...].copyBytes(from: bytes) }
        length = socklen_t(MemoryLayout<sa_family_t>.size + 1 + bytes.count)
    }

    /// Calls `body` with the address in the form of `bind` and `connect`.
    package func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = storage
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, length)
            }
        }
    }
}
