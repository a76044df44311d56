import CLarderLinux
import Foundation

/// The mounts of a command in its own network namespace.
enum CommandMounts {
    /// Makes the mounts for this process, which already has its own mount namespace.
    /// - Returns: why the mounts failed; `nil` if they did not.
    static func make(of files: [MountedFile]) -> String? {
        guard mount("none", "/", nil, larder_mounts_private, nil) == 0 else { return reason("mount") }
        for path in HiddenSockets.paths(ProcessInfo.processInfo.environment).sorted() {
            // A program may have removed its socket since the sockets were listed.
            guard mount("/dev/null", path, nil, larder_mount_bind, nil) == 0 || errno == ENOENT else {
                return reason("cannot hide the socket \(path)")
            }
        }
        // Without a resolv.conf the C libraries query 127.0.0.1 (resolv.conf(5)), where the name server is.
        for file in files where access(file.place, F_OK) == 0 {
            guard mount(file.file, file.place, nil, larder_mount_bind, nil) == 0 else {
                return reason("cannot mount a file at \(file.place)")
            }
        }
        // Root owns the files of these folders even inside its own user namespace. Some of these files name a program that the kernel runs
        // outside.
        guard geteuid() == 0 else { return nil }
        for path in kernelFolders where access(path, F_OK) == 0 {
            guard makeReadOnly(path) else { return reason("cannot make \(path) read-only") }
        }
        return nil
    }

    /// The folders with `core_pattern` and `modprobe`, and with `uevent_helper` and `release_agent`.
    private static let kernelFolders = ["/proc/sys", "/sys"]

    private static func makeReadOnly(_ path: String) -> Bool {
        guard mount(path, path, nil, larder_mount_bind_tree, nil) == 0 else { return false }
        if larder_make_mounts_read_only(path) == 0 { return true }
        // Old kernels make only one mount read-only at a time, so the folder is mounted without the mounts below it.
        return errno == ENOSYS && mount(path, path, nil, larder_mount_bind, nil) == 0
            && mount(nil, path, nil, larder_mount_again_read_only, nil) == 0
    }

    private static func reason(_ call: String) -> String {
        let code = errno
        return "\(call): \(String(cString: strerror(code)))\(NamespaceAdvice(code).clause)"
    }
}
