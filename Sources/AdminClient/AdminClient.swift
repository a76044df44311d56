import CLarderLinux
import FoundationEssentials
import Glibc
import HTTPMessage
import HTTPWire
import ProxyAdmin
import TextCoding

/// Sends one request to a running Larder's admin socket, with blocking calls.
package final class AdminClient {
    package enum Failure: Error, CustomStringConvertible {
        /// No process listens on the socket.
        case notRunning(path: String)
        case broken(path: String, reason: String)

        package var description: String {
            switch self {
            case .notRunning(let path): "Larder is not running: no process answers on \(printable(path, limit: 4096))"
            case .broken(let path, let reason): "\(printable(path, limit: 4096)): \(reason)"
            }
        }
    }

    /// `GET` on this path returns the data that programs need to use this Larder as their proxy.
    package static let setUpPath = "/v1/clients"

    private let path: String
    private let descriptor: Int32

    /// How long to wait for the response to begin, in seconds.
    private static let silence = 120

    package init(path: String) throws(Failure) {
        self.path = path
        guard let address = UnixAddress(path: path) else {
            throw .broken(path: path, reason: "\(AdminSocketError.pathTooLong(path: path))")
        }
        descriptor = socket(AF_UNIX, larder_sock_stream | larder_sock_cloexec, 0)
        guard descriptor >= 0 else { throw .broken(path: path, reason: Self.lastError) }
        limit(SO_RCVTIMEO, seconds: Self.silence)
        limit(SO_SNDTIMEO, seconds: Self.silence)
        guard address.withAddress({ connect(descriptor, $0, $1) }) != 0 else { return }
        switch errno {
        case ENOENT, ECONNREFUSED, ENOTDIR: throw .notRunning(path: path)
        default: throw .broken(path: path, reason: Self.lastError)
        }
    }

    deinit { Glibc.close(descriptor) }

    /// The process ID of the listening process; `nil` if that process is not visible from this process's PID namespace.
    package var serverProcess: Int32? {
        let process = larder_peer_process(descriptor)
        return process > 0 ? process : nil
    }

    /// Sends one request and passes each piece of the response's body to `take`, with the status. Call it once.
    /// - Parameter target: a path with its query, percent-encoded.
    package func send(
        _ method: String, _ target: String, body: [UInt8] = [], accept: String, into take: (ArraySlice<UInt8>, Status) -> Void
    ) throws(Failure) -> Status {
        var request = "\(method) \(target) HTTP/1.1\r\nHost: larder\r\nAccept: \(accept)\r\nConnection: close\r\n"
        if !body.isEmpty || method == "POST" { request += "Content-Length: \(body.count)\r\n" }
        try write(Array((request + "\r\n").utf8) + body)
        var input: [UInt8] = []
        let head = try readHead(&input)
        // There is no time limit from here on: some responses, such as a check of the whole store, take long.
        limit(SO_RCVTIMEO, seconds: 0)
        let answered = head.status
        try readBody(of: head, to: method, &input) { take($0, answered) }
        return head.status
    }

    /// Sends one request, and returns the status and the whole body of the response as text.
    package func send(_ method: String, _ target: String, body: [UInt8] = [], accept: String) throws(Failure) -> (Status, String)
    {
        var received: [UInt8] = []
        let status = try send(method, target, body: body, accept: accept) { bytes, _ in received += bytes }
        return (status, String(decoding: received, as: UTF8.self))
    }

    // MARK: Steps of a request

    /// - Parameter seconds: 0 means no limit.
    private func limit(_ option: Int32, seconds: Int) {
        var time = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    private func write(_ bytes: [UInt8]) throws(Failure) {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress! + sent, $0.count - sent, larder_msg_nosignal)
            }
            if count < 0, errno == EINTR { continue }
            // If the send fails, the response is read nevertheless: a server that rejects a request early sends its response before it
            // closes.
            guard count > 0 else { return }
            sent += count
        }
    }

    private func readHead(_ input: inout [UInt8]) throws(Failure) -> ResponseHead {
        var parser = ResponseParser()
        var head = ResponseHead()
        while true {
            do {
                if let length = try parser.parse(input.span.bytes, into: &head) {
                    input.removeFirst(length)
                    return head
                }
            } catch {
                throw .broken(path: path, reason: "the process on this socket is not Larder (\(error.reason))")
            }
            guard try read(&input) else { throw .broken(path: path, reason: "the connection closed without a response") }
        }
    }

    private func readBody(
        of head: ResponseHead, to method: String, _ input: inout [UInt8], into take: (ArraySlice<UInt8>) -> Void
    ) throws(Failure) {
        do {
            let framing = try BodyFraming.ofResponse(head, to: Method(Array(method.utf8).span))
            var decoder = BodyDecoder(framing: framing)
            var offset = 0
            while true {
                switch try decoder.next(input.span.bytes, from: offset) {
                case .data(let range):
                    take(input[range])
                    offset = range.upperBound
                case .needMore(let consumed):
                    input.removeFirst(consumed)
                    offset = 0
                    if try !read(&input) { return try decoder.inputEnded() }
                case .end: return
                }
            }
        } catch let failure as Failure {
            throw failure
        } catch {
            throw .broken(path: path, reason: "the response is incomplete")
        }
    }

    /// - Returns: whether there was more input.
    private func read(_ input: inout [UInt8]) throws(Failure) -> Bool {
        var bytes = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            let count = recv(descriptor, &bytes, bytes.count, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0 {
                throw .broken(path: path, reason: errno == EAGAIN ? "Larder did not respond in time" : Self.lastError)
            }
            input += bytes[..<count]
            return count > 0
        }
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
