import CLarderLinux
import CommandSupport
import EventLoop
import Foundation

/// The origin server for testing clients: it runs on this machine during the tests, and sends the same response to all requests.
package final class TrialOrigin: Sendable {
    /// A received request.
    struct Request: Sendable {
        let path: String
        /// Whether the request came through a proxy.
        let cameThrough: Bool
    }

    let port: UInt16
    private let listener: Int32
    private let requests = Guarded<[Request]>([])

    static let content = "larder doctor\n"
    private static let headLimit = 16 * 1024
    private static let patience = timeval(tv_sec: 5, tv_usec: 0)

    /// - Returns: `nil` if no socket can be opened.
    package init?() {
        listener = socket(AF_INET, larder_sock_stream | larder_sock_cloexec, 0)
        guard listener >= 0 else { return nil }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let isOpen = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        port = UInt16(bigEndian: address.sin_port)
        guard isOpen else {
            close(listener)
            return nil
        }
        Thread.detachNewThread { self.acceptAll() }
    }

    /// The first request whose path has this prefix.
    func request(below prefix: String) -> Request? { requests.withLock { $0.first { $0.path.hasPrefix(prefix) } } }

    package func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func acceptAll() {
        while true {
            let connection = accept(listener, nil, nil)
            if connection < 0 { break }
            Thread.detachNewThread { self.answer(on: connection) }
        }
        close(listener)
    }

    /// Handles one request per connection.
    private func answer(on connection: Int32) {
        defer { close(connection) }
        var patience = Self.patience
        setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var head: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while head.count < Self.headLimit, !String(decoding: head, as: UTF8.self).contains("\r\n\r\n") {
            let count = recv(connection, &piece, piece.count, 0)
            guard count > 0 else { return }
            head += piece[..<count]
        }
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        let target = lines[0].split(separator: " ").dropFirst().first.map(String.init) ?? ""
        requests.withLock {
            $0.append(Request(path: target, cameThrough: lines.contains { $0.lowercased().hasPrefix("via:") }))
        }
        let fields = "Content-Type: text/plain\r\nCache-Control: no-store\r\nConnection: close\r\n"
        let answer = "HTTP/1.1 200 OK\r\nContent-Length: \(Self.content.utf8.count)\r\n\(fields)\r\n\(Self.content)"
        _ = Descriptor.write(Array(answer.utf8)[...], to: connection)
    }
}
