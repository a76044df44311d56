import CLarderLinux
import Foundation

/// Answers DNS queries in a command's own network namespace for the life of this process, on one thread for each socket.
struct NameResponder {
    /// Resolves a name. Called on the responder's threads.
    let resolve: @Sendable ([UInt8]) -> NameResolution
    /// Whether a name exists, for queries about records other than addresses. Called on the responder's threads.
    let exists: @Sendable ([UInt8]) -> Bool

    /// The maximum number of queries per connection. A client with more queries opens a second connection.
    private static let questionLimit = 100
    /// The time limit for a connection, in seconds. While a connection is served, all others wait.
    private static let patience = 1

    /// Answers from the address that the query was sent to: clients ignore other answers.
    /// - Parameter socket: a bound UDP socket that reports the destination address of each query; the responder owns it from now on.
    func serve(datagramsAt socket: Int32) {
        Thread.detachNewThread {
            Thread.current.name = "names"
            // The buffer has one byte more than the limit, to detect messages that are too long.
            var octets = [UInt8](repeating: 0, count: NameAnswer.queryLimit + 1)
            while true {
                var ends = larder_datagram_ends()
                let count = larder_receive_datagram(socket, &octets, octets.count, &ends)
                if count >= 0, let answer = NameAnswer.answer(to: Array(octets.prefix(count)), by: resolve, exists: exists) {
                    // An error is ignored: a client that gets no response repeats its query.
                    _ = larder_answer_datagram(socket, answer, answer.count, &ends)
                }
                if count < 0, errno != EINTR { return }
            }
        }
    }

    /// Serves one connection after another (RFC 7766).
    /// - Parameter socket: a listening TCP socket; the responder owns it from now on.
    func serve(connectionsAt socket: Int32) {
        // The thread may block: it has no other work.
        _ = fcntl(socket, F_SETFL, 0)
        Thread.detachNewThread {
            Thread.current.name = "names-tcp"
            while true {
                let connection = accept4(socket, nil, nil, larder_sock_cloexec)
                if connection >= 0 {
                    converse(connection)
                    close(connection)
                } else if errno != EINTR, errno != ECONNABORTED {
                    return
                }
            }
        }
    }

    private func converse(_ connection: Int32) {
        var limit = timeval(tv_sec: Self.patience, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(connection, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        for _ in 0..<Self.questionLimit {
            guard let length = Self.octets(2, from: connection),
                let query = Self.octets(Int(length[0]) << 8 | Int(length[1]), from: connection),
                let answer = NameAnswer.answer(to: query, by: resolve, exists: exists)
            else { return }
            let message = [UInt8(answer.count >> 8), UInt8(answer.count & 0xFF)] + answer
            guard send(connection, message, message.count, larder_msg_nosignal) == message.count else { return }
        }
    }

    /// - Returns: `nil` if fewer bytes are received.
    private static func octets(_ count: Int, from connection: Int32) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: count)
        return recv(connection, &octets, count, Int32(MSG_WAITALL)) == count ? octets : nil
    }
}
