import CLarderLinux
import Glibc

/// Determines the kind of a link: from its hardware type and how the kernel created it, and otherwise from its driver's entry
/// in `/sys`.
enum LinkKind {
    /// - Parameter folder: where the kernel lists links. The folder may belong to another network namespace, so an entry is used only if it
    ///   has the link's index.
    static func kind(of link: Link, folder: String = "/sys/class/net") -> InterfaceKind {
        switch deviceType(of: link, folder: folder) {
        case "wlan": return .wireless
        case "wwan": return .cellular
        default: break
        }
        if cellularMakings.contains(link.making) || link.hardware == UInt16(ARPHRD_RAWIP) { return .cellular }
        return link.hardware == UInt16(ARPHRD_ETHER) && !tunnelMakings.contains(link.making) ? .wired : .other
    }

    private static let cellularMakings: Set = ["wwan", "rmnet"]
    /// Links that look like Ethernet, but send their traffic through another link.
    private static let tunnelMakings: Set = ["tun", "vxlan", "gretap", "ip6gretap", "geneve", "dummy", "ifb"]

    /// The value of `DEVTYPE` in the link's file `uevent`; `nil` if the file has no such line.
    private static func deviceType(of link: Link, folder: String) -> Substring? {
        // The kernel allows none of these link names. The check ensures that no file outside the folder is read.
        guard !link.name.isEmpty, !link.name.contains("/"), !link.name.hasPrefix(".") else { return nil }
        guard let text = beginning(of: "\(folder)/\(link.name)/uevent") else { return nil }
        let lines = text.split(separator: "\n")
        guard lines.contains("IFINDEX=\(link.index)") else { return nil }
        return lines.first { $0.hasPrefix("DEVTYPE=") }?.dropFirst("DEVTYPE=".count)
    }

    private static let entryLimit = 1024

    private static func beginning(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var octets = [UInt8](repeating: 0, count: entryLimit)
        let count = read(descriptor, &octets, entryLimit)
        return count > 0 ? String(decoding: octets[..<count], as: UTF8.self) : nil
    }
}
