import EventLoop
import Foundation

/// Gives a user namespace the users and groups of this process (user_namespaces(7)): all of them if this process may, as root may, else its
/// own user and group. Each has the same number inside, so files keep their owners.
///
/// With all of them, root can still install packages or start a server as another user. Yet none of the processes in the namespace may trace
/// one outside, whatever its user.
enum UserMapping {
    /// - Parameter process: a child of this process, in a new user namespace without a mapping.
    static func write(for process: pid_t) throws(SystemError) {
        try write("uid_map", own: geteuid(), for: process)
        try write("gid_map", own: getegid(), for: process)
    }

    private static func write(_ file: String, own number: UInt32, for process: pid_t) throws(SystemError) {
        if let all = identity(of: file) {
            do throws(SystemError) { return try write(all, to: "/proc/\(process)/\(file)") } catch {
                guard error.code == EPERM else { throw error }
            }
        }
        // The kernel permits the mapping of a group only if groups can no longer be changed.
        if file == "gid_map" { try write("deny", to: "/proc/\(process)/setgroups") }
        try write("\(number) \(number) 1", to: "/proc/\(process)/\(file)")
    }

    /// Maps each number that exists in this process's namespace to itself.
    /// - Returns: `nil` if the file cannot be read.
    private static func identity(of file: String) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/self/\(file)", encoding: .utf8) else { return nil }
        // Each line: the first number here, the first in the parent namespace, and how many.
        let lines = text.split(separator: "\n").compactMap { line -> String? in
            let numbers = line.split(separator: " ")
            return numbers.count == 3 ? "\(numbers[0]) \(numbers[0]) \(numbers[2])\n" : nil
        }
        return lines.isEmpty ? nil : lines.joined()
    }

    private static func write(_ text: String, to path: String) throws(SystemError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("open (user mapping)", code: errno) }
        defer { close(descriptor) }
        let octets = Array(text.utf8)
        // The kernel takes a mapping whole.
        guard Glibc.write(descriptor, octets, octets.count) == octets.count else {
            throw SystemError("write (user mapping)", code: errno)
        }
    }
}
