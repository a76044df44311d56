import CLinux
import CommandSupport
import Foundation
import TextCoding

/// Going into a network and becoming a program there. For a process with one thread.
package enum NetworkEntering {
    /// - Parameters:
    ///   - words: with the zero behind each; the first is what the program is called.
    ///   - namespaces: descriptors of namespaces, in the order in which they are gone into.
    ///   - resolver: what is put in the place of /etc/resolv.conf; `nil`: that stays.
    /// - Returns: the exit code where that cannot be, which has been said.
    package static func become(_ path: String, _ words: [[CChar]], through namespaces: [Int32], resolver: String?) -> Int32 {
        for descriptor in namespaces where setns(descriptor, 0) != 0 {
            return fail("cannot enter the network namespace of the command: setns: \(String(cString: strerror(errno)))")
        }
        if let reason = makeMounts(resolver: resolver) {
            return fail("cannot answer DNS queries in the network namespace of the command (--names): \(reason)")
        }
        InheritedDescriptors.closeAll()
        execute(path, words)
        if errno == ENOEXEC {
            // What the kernel does not know is a shell's, as it is for a shell.
            execute("/bin/sh", ["sh", path].map { Array($0.utf8CString) } + words.dropFirst())
        }
        let code = errno
        let reason = code == ENOENT ? "the interpreter in its first line does not exist" : String(cString: strerror(code))
        Terminal.talk("larder: \(printable(path, limit: 4096)): \(reason)\n")
        return ProgramSearch.notExecutableCode
    }

    private static func fail(_ reason: String) -> Int32 {
        Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
        return ProgramSearch.failureCode
    }

    private static func execute(_ path: String, _ words: [[CChar]]) {
        let arguments = words.map { strdup($0) } + [nil]
        execve(path, arguments, larder_variables())
        let code = errno
        for word in arguments { free(word) }
        errno = code
    }

    /// Sockets that have a path are reached from every network. Those behind which something fetches or looks up for others are put out of sight,
    /// where this process may have mounts of its own.
    /// - Returns: why the resolver is not in its place.
    private static func makeMounts(resolver: String?) -> String? {
        var folders = ["/run"]
        if let own = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] { folders.append(own) }
        let all = folders.flatMap { folder in knownSockets.map { "\(folder)/\($0)" } }
        let paths = all.filter { access($0, F_OK) == 0 }
        if paths.isEmpty, resolver == nil { return nil }
        guard unshare(larder_new_mounts) == 0 else { return resolver.map { _ in reason("unshare (mounts)") } }
        guard mount("none", "/", nil, larder_mounts_private, nil) == 0 else { return resolver.map { _ in reason("mount") } }
        for path in paths { mount("/dev/null", path, nil, larder_mount_bind, nil) }
        // Without such a file the C libraries ask at this very address (resolv.conf(5)).
        guard let resolver, access(resolverPlace, F_OK) == 0 else { return nil }
        return mount(resolver, resolverPlace, nil, larder_mount_bind, nil) == 0 ? nil : reason("mount (\(resolverPlace))")
    }

    private static func reason(_ call: String) -> String { "\(call): \(String(cString: strerror(errno)))" }

    private static let resolverPlace = "/etc/resolv.conf"

    private static let knownSockets = [
        "bus", "containerd/containerd.sock", "dbus/system_bus_socket", "docker.sock", "nscd/socket", "podman/podman.sock",
        "snapd.socket", "systemd/resolve/io.systemd.Resolve",
    ]
}
