import CLarderLinux
import EventLoop
import Foundation

@testable import CommandEnvironment
@testable import LarderCLI

/// A name server in the network namespace of the thread that makes it, at 127.0.0.1:53. It resolves every name to one address, and records
/// the names.
final class NameServer: Sendable {
    struct Failure: Error {
        let code: Int32
    }

    private let descriptor: Int32
    private let names = Guarded<[String]>([])
    private let ended = DispatchSemaphore(value: 0)

    /// - Parameter address: an IPv4 address of four bytes.
    init(giving address: [UInt8]) throws {
        descriptor = socket(AF_INET, larder_sock_dgram | larder_sock_cloexec, 0)
        var place = Self.place
        let code = withUnsafePointer(to: &place) { place in
            place.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw Failure(code: errno) }
        Thread.detachNewThread { [self] in
            serve(address)
            ended.signal()
        }
    }

    deinit { close(descriptor) }

    /// The queried names, in order.
    var askedNames: [String] { names.withLock { $0 } }

    /// Ends the thread and waits for it. Call it once.
    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        ended.wait()
    }

    private static var place: sockaddr_in {
        var place = sockaddr_in()
        place.sin_family = sa_family_t(AF_INET)
        place.sin_port = UInt16(53).bigEndian
        place.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return place
    }

    private func serve(_ address: [UInt8]) {
        var query = [UInt8](repeating: 0, count: NameAnswer.queryLimit)
        while true {
            var peer = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isServed = withUnsafeMutablePointer(to: &peer) { storage in
                storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { peer in
                    let count = recvfrom(descriptor, &query, query.count, 0, peer, &length)
                    guard count > 0 else { return false }
                    let question = Array(query[..<count])
                    names.withLock { $0.append(Self.name(in: question)) }
                    if let answer = NameAnswer.answer(
                        to: question, by: { _ in .addresses(ipv4: address, ipv6: nil) }, exists: { _ in true })
                    {
                        _ = sendto(descriptor, answer, answer.count, 0, peer, length)
                    }
                    return true
                }
            }
            if !isServed { return }
        }
    }

    /// The labels after the head (RFC 1035 §4.1.2).
    private static func name(in query: [UInt8]) -> String {
        var labels: [String] = []
        var place = 12
        while place < query.count, query[place] > 0, place + Int(query[place]) < query.count {
            labels.append(String(decoding: query[place + 1...place + Int(query[place])], as: UTF8.self))
            place += 1 + Int(query[place])
        }
        return labels.joined(separator: ".")
    }
}
