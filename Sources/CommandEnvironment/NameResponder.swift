import CLinux
import Foundation

/// Answers who asks for names in a command's own network, for as long as this process lives: on a thread for each of the two sockets.
struct NameResponder {
    /// That every name stands for, of IPv4.
    let address: [UInt8]

    /// A connection's questions; who has more makes another one.
    private static let questionLimit = 100
    /// What a connection is waited for, in seconds: meanwhile no other is answered.
    private static let patience = 1

    /// - Parameter socket: of UDP, bound; belongs to the responder from now on.
    func serve(datagramsAt socket: Int32) {
        Thread.detachNewThread {
            Thread.current.name = "names"
            // One more, by which what is too long is known.
            var octets = [UInt8](repeating: 0, count: NameAnswer.queryLimit + 1)
            while true {
                var peer = sockaddr_storage()
                var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
                let isServed = withUnsafeMutablePointer(to: &peer) { storage in
                    storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                        let count = recvfrom(socket, &octets, octets.count, 0, peer, &length)
                        guard count >= 0 else { return errno == EINTR }
                        if let answer = NameAnswer.answer(to: Array(octets.prefix(count)), with: address) {
                            // Who does not take it asks again.
                            _ = sendto(socket, answer, answer.count, larder_msg_nosignal | larder_msg_dontwait, peer, length)
                        }
                        return true
                    }
                }
                if !isServed { return }
            }
        }
    }

    /// One connection after the other (RFC 7766).
    /// - Parameter socket: of TCP, listening; belongs to the responder from now on.
    func serve(connectionsAt socket: Int32) {
        // The thread has nothing else to do.
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
                let answer = NameAnswer.answer(to: query, with: address)
            else { return }
            let message = [UInt8(answer.count >> 8), UInt8(answer.count & 0xFF)] + answer
            guard send(connection, message, message.count, larder_msg_nosignal) == message.count else { return }
        }
    }

    /// - Returns: `nil` where they do not come.
    private static func octets(_ count: Int, from connection: Int32) -> [UInt8]? {
        var octets = [UInt8](repeating: 0, count: count)
        return recv(connection, &octets, count, Int32(MSG_WAITALL)) == count ? octets : nil
    }
}
