import CLarderLinux
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
        // Root makes the mounts before it enters the namespaces. Such mounts belong to the outer user namespace, so no process in the
        // inner one may change them. Other users may make mounts only in the inner user namespace.
        var hasMounts = unshare(larder_new_mounts) == 0
        guard hasMounts || errno == EPERM else { return failMounting(reason("cannot create a mount namespace")) }
        if hasMounts, let reason = CommandMounts.make(of: files) { return failMounting(reason) }
        for descriptor in namespaces where setns(descriptor, 0) != 0 {
            return fail("cannot enter the network namespace of the command: \(reason("setns"))")
        }
        if !hasMounts {
            hasMounts = unshare(larder_new_mounts) == 0
            guard hasMounts else { return failMounting(reason("cannot create a mount namespace")) }
            if let reason = CommandMounts.make(of: files) { return failMounting(reason) }
        }
        let filter = SystemCallFilter().instructions
        guard larder_filter_system_calls(filter, UInt16(filter.count)) == 0 else {
            return fail(
                "cannot block the system calls with which the command could leave its network namespace: \(reason("seccomp"))")
        }
        // With these capabilities, root could give the namespace other links, routes and mounts.
        guard larder_drop_escape_capabilities() == 0 else {
            return fail(
                "cannot drop the capabilities with which the command could change its network namespace: \(reason("prctl"))")
        }
        InheritedDescriptors.closeAll()
        execute(path, words)
        if errno == ENOEXEC {
            // Runs a file as a shell script if the kernel does not know its format, as a shell does.
            execute("/bin/sh", ["sh", path].map { Array($0.utf8CString) } + words.dropFirst())
        }
        let code = errno
        let reason =
            code == ENOENT ? "the interpreter in the script's first line does not exist" : String(cString: strerror(code))
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

    private static func failMounting(_ reason: String) -> Int32 {
        fail("cannot mount files for the command in its network namespace: \(reason)")
    }

    private static func reason(_ call: String) -> String {
        let code = errno
        return "\(call): \(String(cString: strerror(code)))\(NamespaceAdvice(code).clause)"
    }
}
