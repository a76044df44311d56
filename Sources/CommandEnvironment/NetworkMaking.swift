import CLarderLinux
import EventLoop
import Foundation
import ProxyServer

/// Makes a new network namespace with `lo` and listening sockets. Needs a process with a single thread.
package enum NetworkMaking {
    /// The address of all sockets.
    static let address: [UInt8] = [127, 0, 0, 1]
    static var addressText: String { address.map(String.init).joined(separator: ".") }

    /// Asks the peer to map the users, with a message of one byte, `request`. Then sends the sockets and the descriptors of the user and
    /// network namespaces, after a byte with the number of namespaces. After a failure it sends the reason instead.
    package static func handOver(to socket: Int32, reach: NetworkReach) {
        do throws(SystemError) {
            let namespaces = try enter(askingAt: socket)
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
            let reason = Array("\(error)\(NamespaceAdvice(error.code).clause)".utf8)
            _ = send(socket, reason, reason.count, larder_msg_nosignal)  // if this fails, the peer sees this process end
        }
    }

    /// The byte that requests the mapping of users. A text that gives a reason never begins with this byte.
    static let request: UInt8 = 0

    /// Makes the network namespace in a new user namespace, even for root. Otherwise root could become a user who has processes outside,
    /// and trace those processes.
    private static func enter(askingAt socket: Int32) throws(SystemError) -> [Int32] {
        guard unshare(larder_new_users | larder_new_network) == 0 else { throw SystemError("unshare", code: errno) }
        // Only a process outside the user namespace may map users other than its own.
        var octet = request
        guard send(socket, &octet, 1, larder_msg_nosignal) == 1, recv(socket, &octet, 1, 0) == 1 else {
            throw SystemError("cannot map the user IDs", code: errno)
        }
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
        guard descriptor >= 0 else { throw SystemError("socket (DNS)", code: errno) }
        defer { close(descriptor) }
        guard larder_add_loopback_address(descriptor) == 0 else { throw SystemError("cannot add an address to lo", code: errno) }
    }

    /// Opens the sockets at the port that the C library queries: no file can configure another port.
    /// - Returns: the UDP socket, then the TCP socket.
    private static func openNames(at host: String, _ family: Int32) throws(SystemError) -> [Int32] {
        let descriptor = socket(family, larder_sock_dgram | larder_sock_cloexec, 0)
        guard descriptor >= 0 else { throw SystemError("socket (DNS)", code: errno) }
        guard larder_tell_datagram_ends(descriptor, family) == 0 else { throw SystemError("setsockopt (DNS)", code: errno) }
        try ListeningSocket.bind(descriptor, to: host, port: namesPort)
        return [descriptor, try ListeningSocket(host: host, port: namesPort).descriptor]
    }

    /// Makes all addresses local, so that every connection ends in this namespace. Opens sockets for the ports of HTTP and DNS; the
    /// kernel refuses connections to other ports. Without IPv6, no IPv6 address is reachable.
    /// - Returns: for IPv4, and then for IPv6 if there is IPv6: the socket for http, the socket for https, and the two sockets for DNS.
    private static func openEverywhere() throws(SystemError) -> [Int32] {
        guard larder_make_all_addresses_local(AF_INET) == 0 else {
            throw SystemError("cannot route all addresses to this namespace", code: errno)
        }
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
        guard descriptor >= 0 else { throw SystemError("cannot open a file in /proc", code: errno) }
        return descriptor
    }
}
