import Glibc
import Testing

@testable import CommandEnvironment

@Suite("What to do where namespaces are forbidden")
struct NamespaceAdviceTests {
    private static func clause(_ code: Int32, isRoot: Bool = false, _ values: [String: String] = [:]) -> String {
        NamespaceAdvice(code, isRoot: isRoot) { values[$0] }.clause
    }

    @Test(
        "A limit of 0 is named with the command that raises it",
        arguments: ["max_user_namespaces", "max_net_namespaces", "max_mnt_namespaces"])
    func namesLimits(name: String) {
        for code in [ENOSPC, EUSERS] {
            #expect(
                Self.clause(code, ["user/\(name)": "0"])
                    == "; user.\(name) is 0: `sysctl -w user.\(name)=10000`, as root, allows them")
        }
        #expect(Self.clause(ENOSPC, ["user/\(name)": "100"]).contains("user.max_*_namespaces"))
    }

    @Test("A setting that forbids user namespaces to ordinary users is named with its remedy; it does not concern root")
    func namesSettings() {
        for code in [EPERM, EACCES] {
            let debian = Self.clause(code, ["kernel/unprivileged_userns_clone": "0"])
            #expect(debian.contains("`sysctl -w kernel.unprivileged_userns_clone=1`, as root"))
            let ubuntu = Self.clause(
                code, ["kernel/unprivileged_userns_clone": "1", "kernel/apparmor_restrict_unprivileged_userns": "1"])
            #expect(ubuntu.contains("`sysctl -w kernel.apparmor_restrict_unprivileged_userns=0`, as root"))
            #expect(ubuntu.contains("AppArmor profile"))
            let others = [
                Self.clause(code), Self.clause(code, isRoot: true, ["kernel/unprivileged_userns_clone": "0"]),
                Self.clause(code, isRoot: true, ["kernel/apparmor_restrict_unprivileged_userns": "1"]),
            ]
            #expect(others.allSatisfy { $0.hasPrefix("; the container, the chroot or the security module") }, "\(others)")
        }
        #expect(Self.clause(ENOENT).isEmpty && Self.clause(EINVAL).contains("kernel"))
    }
}
