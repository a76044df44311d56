import Foundation

/// Why this system refuses a namespace, and what allows it (namespaces(7), user_namespaces(7)).
struct NamespaceAdvice {
    /// The text to append to the system's error; empty if the error needs no explanation.
    let clause: String

    /// - Parameters:
    ///   - code: the `errno` of the call.
    ///   - isRoot: whether the limits for ordinary users do not apply.
    ///   - value: reads a file in `/proc/sys`.
    init(_ code: Int32, isRoot: Bool = geteuid() == 0, value: (String) -> String? = Self.value) {
        switch code {
        case ENOSPC, EUSERS:
            let limits = ["max_user_namespaces", "max_net_namespaces", "max_mnt_namespaces"]
            if let name = limits.first(where: { value("user/\($0)") == "0" }) {
                clause = "; user.\(name) is 0: `sysctl -w user.\(name)=10000`, as root, allows them"
            } else {
                clause = "; this user has as many namespaces as the limits user.max_*_namespaces allow"
            }
        case EPERM, EACCES:
            if !isRoot, value("kernel/unprivileged_userns_clone") == "0" {
                clause =
                    "; kernel.unprivileged_userns_clone is 0: `sysctl -w kernel.unprivileged_userns_clone=1`, as root, allows user namespaces"
            } else if !isRoot, value("kernel/apparmor_restrict_unprivileged_userns") == "1" {
                clause =
                    "; kernel.apparmor_restrict_unprivileged_userns is 1: `sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, as root, "
                    + "allows user namespaces, or an AppArmor profile for larder with `userns,`"
            } else {
                clause = "; the container, the chroot or the security module that this process runs in forbids it"
            }
        case EINVAL, ENOSYS: clause = "; this process is in a chroot, or the kernel lacks a feature that --netns needs"
        default: clause = ""
        }
    }

    private static func value(_ name: String) -> String? {
        (try? String(contentsOfFile: "/proc/sys/\(name)", encoding: .utf8))?.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
