import CLarderLinux
import EventLoop
import Glibc
import Testing

@testable import ProxyServer

@Suite("Listening sockets")
struct ListeningSocketTests {
    @Test("No client can connect to a socket that is bound before it listens, and its port is taken once it does")
    func listensLater() throws {
        let socket = try ListeningSocket(binding: "127.0.0.1", port: 0)
        defer { socket.close() }
        let port = try #require(UInt16("\(socket.address.port)"))
        #expect(Self.connects(to: port) == ECONNREFUSED)
        try socket.listen()
        #expect(Self.connects(to: port) == 0)
        #expect(throws: SystemError.self) { try ListeningSocket(binding: "127.0.0.1", port: port) }
    }

    /// - Returns: 0, or why not.
    private static func connects(to port: UInt16) -> Int32 {
        let descriptor = socket(AF_INET, larder_sock_stream | larder_sock_cloexec, 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return result == 0 ? 0 : errno
    }
}
