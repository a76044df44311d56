import CLinux
import Glibc

/// Tells what a link is made of: from its hardware and how the kernel has made it, and where that says nothing from what its driver says in `/sys`.
enum LinkKind {
    /// - Parameter folder: where the kernel shows links. That may be another network namespace's: an entry counts where it bears the link's index.
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
    /// They pass for Ethernet, and what passes through goes on by another link.
    private static let tunnelMakings: Set = ["tun", "vxlan", "gretap", "ip6gretap", "geneve", "dummy", "ifb"]

    /// `DEVTYPE` in the link's entry; `nil` where it has none or there is no entry.
    private static func deviceType(of link: Link, folder: String) -> Substring? {
        // The kernel has no such names; nothing else of the file system is read all the same.
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
