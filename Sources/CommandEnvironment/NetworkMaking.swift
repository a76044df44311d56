import CLinux
import EventLoop
import Foundation
import ProxyServer

/// Makes a new network namespace with `lo`, a listening socket and, if requested, two sockets for DNS queries. Needs a process with a
/// single thread.
package enum NetworkMaking {
    /// The address of all sockets.
    static let address: [UInt8] = [127, 0, 0, 1]
    static var addressText: String { address.map(String.init).joined(separator: ".") }

    /// Sends the sockets, and descriptors of the network and user namespaces, or the reason why there are none.
    package static func handOver(to socket: Int32, answersNames: Bool) {
        do throws(SystemError) {
            let namespaces = try enter()
            let listener = try listen()
            let descriptors = [listener.descriptor] + (answersNames ? try openNames() : []) + namespaces
            guard larder_hand_over(socket, descriptors, Int32(descriptors.count)) >= 0 else {
                throw SystemError("sendmsg", code: errno)
            }
        } catch {
            let reason = Array("\(error)".utf8)
            _ = send(socket, reason, reason.count, larder_msg_nosignal)  // if it fails, the peer sees this process end
        }
    }

    /// Makes the namespace directly if that is permitted, else in a new user namespace with a single user.
    private static func enter() throws(SystemError) -> [Int32] {
        if unshare(larder_new_network) == 0 { return [try open("/proc/self/ns/net", O_RDONLY)] }
        guard errno == EPERM else { throw SystemError("unshare", code: errno) }
        let (user, group) = (geteuid(), getegid())
        guard unshare(larder_new_users | larder_new_network) == 0 else {
            throw SystemError("unshare (user namespace)", code: errno)
        }
        // The kernel permits the group mapping only if groups can no longer be changed (user_namespaces(7)).
        try write("deny", to: "/proc/self/setgroups")
        try write("\(user) \(user) 1", to: "/proc/self/uid_map")
        try write("\(group) \(group) 1", to: "/proc/self/gid_map")
        return [try open("/proc/self/ns/user", O_RDONLY), try open("/proc/self/ns/net", O_RDONLY)]
    }

    private static func listen() throws(SystemError) -> ListeningSocket {
        let descriptor = socket(AF_INET, larder_sock_dgram, 0)
        guard descriptor >= 0 else { throw SystemError("socket", code: errno) }
        defer { close(descriptor) }
        guard larder_raise_loopback(descriptor) == 0 else {
            throw SystemError("cannot bring up the loopback interface", code: errno)
        }
        return try ListeningSocket(host: addressText, port: 0)
    }

    /// Opens the sockets at the port that the C library queries: no file can configure another port.
    /// - Returns: the UDP socket, then the TCP socket.
    private static func openNames() throws(SystemError) -> [Int32] {
        let descriptor = socket(AF_INET, larder_sock_dgram | larder_sock_cloexec, 0)
        guard descriptor >= 0 else { throw SystemError("socket (names)", code: errno) }
        guard larder_add_loopback_address(descriptor) == 0 else { throw SystemError("addressing lo", code: errno) }
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = namesPort.bigEndian
        place.sin_addr.s_addr = inet_addr(addressText)
        let bound = withUnsafePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0 else { throw SystemError("bind (names)", code: errno) }
        return [descriptor, try ListeningSocket(host: addressText, port: namesPort).descriptor]
    }

    private static let namesPort: UInt16 = 53

    private static func open(_ path: String, _ flags: Int32) throws(SystemError) -> Int32 {
        let descriptor = Glibc.open(path, flags | O_CLOEXEC)
        guard descriptor >= 0 else { throw SystemError("opening a file in /proc", code: errno) }
        return descriptor
    }

    private static func write(_ text: String, to path: String) throws(SystemError) {
        let descriptor = try open(path, O_WRONLY)
        defer { close(descriptor) }
        let octets = Array(text.utf8)
        guard Glibc.write(descriptor, octets, octets.count) == octets.count else {
            throw SystemError("mapping the user (user namespace)", code: errno)
        }
    }
}
