import CLarderLinux
import EventLoop
import Glibc
import RESPWire

/// An address to connect to, with its port, in the kernel's form.
struct SocketAddress: Equatable, Sendable {
    private let octets: [UInt8]

    var family: Int32 { octets.withUnsafeBytes { Int32($0.loadUnaligned(as: sa_family_t.self)) } }

    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var storage = sockaddr_storage()
        withUnsafeMutableBytes(of: &storage) { $0.copyBytes(from: octets) }
        return withUnsafePointer(to: &storage) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(octets.count)) }
        }
    }

    /// The first address of a host; `nil` if there is none. Blocks while the C library looks the name up, unless `isLiteral`.
    /// - Parameter isLiteral: Whether only a literal address is accepted.
    init?(_ address: EngineAddress, isLiteral: Bool) {
        var hints = addrinfo()
        hints.ai_socktype = Int32(larder_sock_stream)
        hints.ai_flags = AI_NUMERICSERV | (isLiteral ? AI_NUMERICHOST : 0)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(address.host, "\(address.port)", &hints, &found) == 0, let found else { return nil }
        defer { freeaddrinfo(found) }
        guard let pointer = found.pointee.ai_addr, Int(found.pointee.ai_addrlen) <= MemoryLayout<sockaddr_storage>.size else {
            return nil
        }
        octets = Array(UnsafeRawBufferPointer(start: pointer, count: Int(found.pointee.ai_addrlen)))
    }
}

/// Looks up the names of engines on a thread of its own.
final class NameResolver: Sendable {
    private let thread: LoopThread

    init() throws(SystemError) { thread = try LoopThread(name: "tier-names", .beside) }

    func resolve(_ address: EngineAddress, reply: Reply<SocketAddress?>) {
        thread.handle.post { _ in reply.send(SocketAddress(address, isLiteral: false)) }
    }

    /// Ends the thread. A look-up that has begun is awaited.
    func stop() {
        thread.handle.stop()
        thread.join()
    }
}
