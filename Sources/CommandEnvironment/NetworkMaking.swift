import CLinux
import EventLoop
import Foundation
import ProxyServer

/// Makes a new network namespace with `lo` and listening sockets. Needs a process with a single thread.
package enum NetworkMaking {
    /// The address of all sockets.
    static let address: [UInt8] = [127, 0, 0, 1]
    static var addressText: String { address.map(String.init).joined(separator: ".") }

    /// Sends the sockets, and descriptors of the network and user namespaces, or the reason why there are none. The byte before them is the
    /// number of the namespaces.
    package static func handOver(to socket: Int32, reach: NetworkReach) {
        do throws(SystemError) {
            let namespaces = try enter()
            var descriptors = [try listen().descriptor]
            switch reach {
            case .listener: break
            case .names:
                try addSecondAddress()
                descriptors += try openNames(at: addressText, AF_INET)
            case .everywhere:
                try addSecondAddress()
                descriptors += try openEverywhere()
            }
            descriptors += namespaces
            guard larder_hand_over(socket, CChar(namespaces.count), descriptors, Int32(descriptors.count)) >= 0 else {
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

    private static func addSecondAddress() throws(SystemError) {
        let descriptor = socket(AF_INET, larder_sock_dgram | larder_sock_cloexec, 0)
        guard descriptor >= 0 else { throw SystemError("socket (names)", code: errno) }
        defer { close(descriptor) }
        guard larder_add_loopback_address(descriptor) == 0 else { throw SystemError("addressing lo", code: errno) }
    }

    /// Opens the sockets at the port that the C library queries: no file can configure another port.
    /// - Returns: the UDP socket, then the TCP socket.
    private static func openNames(at host: String, _ family: Int32) throws(SystemError) -> [Int32] {
        let descriptor = socket(family, larder_sock_dgram | larder_sock_cloexec, 0)
        guard descriptor >= 0 else { throw SystemError("socket (names)", code: errno) }
        guard larder_tell_datagram_ends(descriptor, family) == 0 else { throw SystemError("setsockopt (names)", code: errno) }
        try ListeningSocket.bind(descriptor, to: host, port: namesPort)
        return [descriptor, try ListeningSocket(host: host, port: namesPort).descriptor]
    }

    /// Makes all addresses local, so that every connection ends here, and accepts those to the ports of HTTP and DNS. The kernel refuses
    /// connections to other ports. Without IPv6, no IPv6 address is reachable.
    /// - Returns: for IPv4, then for IPv6 if there is IPv6: the sockets for http and https, and two for names.
    private static func openEverywhere() throws(SystemError) -> [Int32] {
        guard larder_make_all_addresses_local(AF_INET) == 0 else { throw SystemError("making all addresses local", code: errno) }
        var descriptors = try openServices(at: "0.0.0.0", AF_INET)
        if larder_make_all_addresses_local(AF_INET6) == 0 { descriptors += try openServices(at: "::", AF_INET6) }
        return descriptors
    }

    private static func openServices(at host: String, _ family: Int32) throws(SystemError) -> [Int32] {
        var descriptors: [Int32] = []
        for port in servedPorts { descriptors.append(try ListeningSocket(host: host, port: port).descriptor) }
        return descriptors + (try openNames(at: host, family))
    }

    private static let namesPort: UInt16 = 53
    private static let servedPorts: [UInt16] = [80, 443]

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
