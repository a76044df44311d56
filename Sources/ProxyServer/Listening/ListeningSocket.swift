import CLarderLinux
import EventLoop
import Glibc

/// A bound and listening TCP socket. Bound before any thread starts, so that a port in use is a startup error.
package struct ListeningSocket: Sendable {
    package let descriptor: Int32
    /// The address to which the socket is bound: port 0 has been replaced by the chosen port.
    package let address: PeerAddress

    package static let backlog: Int32 = 4096

    package init(host: String, port: UInt16) throws(SystemError) {
        try self.init(binding: host, port: port)
        try listen()
    }

    /// A socket to which no client can connect before `listen()`. A port on which another socket listens is an error.
    package init(binding host: String, port: UInt16) throws(SystemError) {
        var storage = sockaddr_storage()
        let (family, length) = try Self.fill(&storage, host: host, port: port)
        let descriptor = try Self.open(family)
        try Self.bind(descriptor, to: &storage, length)
        try self.init(listening: descriptor)
    }

    /// Binds a socket of any type. Closes the socket on failure.
    /// - Parameter host: an address of the socket's family. An IPv6 socket does not accept IPv4 connections.
    package static func bind(_ descriptor: Int32, to host: String, port: UInt16) throws(SystemError) {
        var storage = sockaddr_storage()
        let (family, length) = try fill(&storage, host: host, port: port)
        if family == AF_INET6 { keepToIPv6(descriptor) }
        try bind(descriptor, to: &storage, length)
    }

    private static func bind(_ descriptor: Int32, to storage: inout sockaddr_storage, _ length: socklen_t) throws(SystemError) {
        let bound = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.bind(descriptor, $0, length) }
        }
        if bound != 0 { throw failure("bind", descriptor) }
    }

    private static func keepToIPv6(_ descriptor: Int32) {
        var one: Int32 = 1
        _ = setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &one, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Begins to listen. Closes the socket on failure.
    package func listen() throws(SystemError) {
        if Glibc.listen(descriptor, Self.backlog) != 0 { throw Self.failure("listen", descriptor) }
    }

    /// Takes a socket that is already listening, for example in another network namespace. This value owns it from now on.
    package init(listening descriptor: Int32) throws(SystemError) {
        var actual = sockaddr_storage()
        var actualLength = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let named = withUnsafeMutablePointer(to: &actual) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &actualLength) }
        }
        if named != 0 { throw Self.failure("getsockname", descriptor) }
        self.descriptor = descriptor
        self.address = PeerAddress(actual)
    }

    package func close() { closeDescriptor(descriptor) }

    private static func open(_ family: Int32) throws(SystemError) -> Int32 {
        let descriptor = socket(
            family, Int32(larder_sock_stream | larder_sock_nonblock | larder_sock_cloexec), 0)
        if descriptor < 0 { throw SystemError("socket", code: errno) }
        var one: Int32 = 1
        _ = setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
        if family == AF_INET6 { keepToIPv6(descriptor) }
        return descriptor
    }

    private static func fill(
        _ storage: inout sockaddr_storage, host: String, port: UInt16
    ) throws(SystemError) -> (Int32, socklen_t) {
        var four = sockaddr_in()
        if inet_pton(AF_INET, host, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: four, as: sockaddr_in.self) }
            return (AF_INET, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
        var six = sockaddr_in6()
        if inet_pton(AF_INET6, host, &six.sin6_addr) == 1 {
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &storage) { $0.storeBytes(of: six, as: sockaddr_in6.self) }
            return (AF_INET6, socklen_t(MemoryLayout<sockaddr_in6>.size))
        }
        throw SystemError("inet_pton", code: EINVAL)
    }

    private static func failure(_ call: StaticString, _ descriptor: Int32) -> SystemError {
        let code = errno
        closeDescriptor(descriptor)
        return SystemError(call, code: code)
    }
}

/// `close` under a different name, for types with a method `close`.
func closeDescriptor(_ descriptor: Int32) { _ = Glibc.close(descriptor) }
