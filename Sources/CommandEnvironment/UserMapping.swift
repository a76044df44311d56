import EventLoop
import Foundation

/// Gives a user namespace the users and groups of this process (user_namespaces(7)). A process that may map all of them, such as root's,
/// maps all; any other maps only its own user and group. Each user and group has the same number inside, so files keep their owners.
///
/// With all users mapped, root can still install packages or start a server as another user. Yet none of the processes in the namespace may
/// trace one outside, whatever its user.
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
        // The kernel lets an ordinary user map a group only after `deny` is written to `setgroups`.
        if file == "gid_map" { try write("deny", to: "/proc/\(process)/setgroups") }
        try write("\(number) \(number) 1", to: "/proc/\(process)/\(file)")
    }

    /// A mapping of each number in this process's namespace to itself.
    /// - Returns: `nil` if the file cannot be read.
    private static func identity(of file: String) -> String? {
        guard let text = try? String(contentsOfFile: "/proc/self/\(file)", encoding: .utf8) else { return nil }
        // Each line has the first number in this namespace, the first number in the parent namespace, and the length of the range.
        let lines = text.split(separator: "\n").compactMap { line -> String? in
            let numbers = line.split(separator: " ")
            return numbers.count == 3 ? "\(numbers[0]) \(numbers[0]) \(numbers[2])\n" : nil
        }
        return lines.isEmpty ? nil : lines.joined()
    }

    private static func write(_ text: String, to path: String) throws(SystemError) {
        let descriptor = open(path, O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("cannot open the user mapping", code: errno) }
        defer { close(descriptor) }
        let octets = Array(text.utf8)
        // The kernel accepts a mapping only in a single write.
        guard Glibc.write(descriptor, octets, octets.count) == octets.count else {
            throw SystemError("cannot write the user mapping", code: errno)
        }
    }
}
