import CLinux
import CommandSupport
import Foundation
import TextCoding

/// Enters a network namespace and executes a program in it. Needs a process with a single thread.
package enum NetworkEntering {
    /// - Parameters:
    ///   - words: zero-terminated arguments; the first is the program's name.
    ///   - namespaces: descriptors of namespaces, in the order of entering.
    ///   - files: the files to mount over others.
    /// - Returns: the exit code if that fails, after reporting the reason.
    package static func become(_ path: String, _ words: [[CChar]], through namespaces: [Int32], mounting files: [MountedFile])
        -> Int32
    {
        for descriptor in namespaces where setns(descriptor, 0) != 0 {
            return fail("cannot enter the network namespace of the command: setns: \(String(cString: strerror(errno)))")
        }
        if let reason = makeMounts(of: files) {
            return fail("cannot give the command the settings of its network namespace: \(reason)")
        }
        // Root could enter the network of another process.
        guard larder_drop_escape_capabilities() == 0 else {
            return fail("cannot drop capabilities by which the command could leave its network namespace: \(reason("prctl"))")
        }
        InheritedDescriptors.closeAll()
        execute(path, words)
        if errno == ENOEXEC {
            // Like a shell, runs a file as a shell script if the kernel does not know its format.
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

    /// Sockets with a path can be reached from every network namespace. Hides those of services that fetch or look up names for clients, if
    /// this process may have its own mounts.
    /// - Returns: why a file could not be mounted.
    private static func makeMounts(of files: [MountedFile]) -> String? {
        var folders = ["/run"]
        if let own = ProcessInfo.processInfo.environment["XDG_RUNTIME_DIR"] { folders.append(own) }
        let all = folders.flatMap { folder in knownSockets.map { "\(folder)/\($0)" } }
        let paths = all.filter { access($0, F_OK) == 0 }
        if paths.isEmpty, files.isEmpty { return nil }
        guard unshare(larder_new_mounts) == 0 else { return files.isEmpty ? nil : reason("unshare (mounts)") }
        guard mount("none", "/", nil, larder_mounts_private, nil) == 0 else { return files.isEmpty ? nil : reason("mount") }
        for path in paths { mount("/dev/null", path, nil, larder_mount_bind, nil) }
        // Without a resolv.conf the C libraries query 127.0.0.1 (resolv.conf(5)), where the name server is.
        for file in files where access(file.place, F_OK) == 0 {
            guard mount(file.file, file.place, nil, larder_mount_bind, nil) == 0 else { return reason("mount (\(file.place))") }
        }
        return nil
    }

    private static func reason(_ call: String) -> String { "\(call): \(String(cString: strerror(errno)))" }

    private static let knownSockets = [
        "bus", "containerd/containerd.sock", "dbus/system_bus_socket", "docker.sock", "nscd/socket", "podman/podman.sock",
        "snapd.socket", "systemd/resolve/io.systemd.Resolve",
    ]
}
