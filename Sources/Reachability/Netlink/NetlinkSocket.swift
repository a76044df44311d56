import CLarderLinux
import EventLoop
import Glibc

/// A netlink socket for the kernel's tables of links, addresses and routes, which also receives notifications of changes.
/// The socket is closed when the last reference to this object is released.
final class NetlinkSocket: Sendable {
    /// Why no datagram was read.
    enum ReadError: Error {
        /// There are no more datagrams.
        case nothing
        /// The kernel dropped messages because the socket's buffer was full (ENOBUFS), or a message did not fit into the buffer.
        case lost
    }

    let descriptor: Int32
    /// The kernel's identifier for this socket: answers to our requests have it; notifications have the identifier of the
    /// socket that caused the change.
    let port: UInt32

    init() throws(SystemError) {
        let descriptor = socket(
            AF_NETLINK, larder_sock_raw | larder_sock_cloexec | larder_sock_nonblock, NETLINK_ROUTE)
        if descriptor < 0 { throw SystemError("socket(AF_NETLINK)", code: errno) }
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_groups = Self.groups
        guard Self.withPointer(to: &address, { bind(descriptor, $0, $1) }) == 0 else {
            let code = errno
            close(descriptor)
            throw SystemError("bind(AF_NETLINK)", code: code)
        }
        var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
        let named = Self.withPointer(to: &address) { pointer, _ in
            getsockname(descriptor, UnsafeMutablePointer(mutating: pointer), &length)
        }
        guard named == 0 else {
            let code = errno
            close(descriptor)
            throw SystemError("getsockname(AF_NETLINK)", code: code)
        }
        self.descriptor = descriptor
        port = address.nl_pid
    }

    deinit { close(descriptor) }

    /// - Returns: whether the kernel accepted the request.
    func send(_ request: [UInt8]) -> Bool {
        request.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, 0) } == request.count
    }

    /// Reads one datagram from the kernel.
    /// - Returns: its length in the buffer; 0 for a datagram from another process.
    func receive(into buffer: UnsafeMutableRawBufferPointer) throws(ReadError) -> Int {
        while true {
            var sender = sockaddr_nl()
            var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
            let count = Self.withPointer(to: &sender) { pointer, _ in
                recvfrom(
                    descriptor, buffer.baseAddress, buffer.count, larder_msg_trunc, UnsafeMutablePointer(mutating: pointer),
                    &length)
            }
            if count > buffer.count { throw .lost }
            if count >= 0 { return sender.nl_pid == 0 ? count : 0 }
            switch errno {
            case EINTR: continue
            case EAGAIN: throw .nothing
            default: throw .lost
            }
        }
    }

    private static let groups =
        UInt32(RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE)
        // The last bit is the group for next hops; older kernels ignore it.
        | 1 << 31

    private static func withPointer<Result>(
        to address: inout sockaddr_nl, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_nl>.size)) }
        }
    }
}
