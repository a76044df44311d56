import CLarderLinux
import CertificateAuthority
import Foundation
import Glibc
import ServerTrust
import TLSChannel
import TestSupport
import Testing

@testable import ProxyServer

@Suite("The client's end of a relay, inside TLS that ends here")
struct RelayEndTests {
    /// A client and our end of its connection, after the handshake.
    private final class Connection {
        let client: TLSClient
        let clientDescriptor: Int32
        let end: ClientRelayEnd
        let buffers = RecordBuffers()
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: RecordBuffers.contentLength, alignment: 16)
        private let descriptor: Int32

        init() throws {
            var ends: [Int32] = [-1, -1]
            precondition(socketpair(AF_UNIX, larder_sock_stream | larder_sock_cloexec, 0, &ends) == 0)
            (descriptor, clientDescriptor) = (ends[0], ends[1])
            let now = POSIXTime(seconds: Int64(Date().timeIntervalSince1970))
            let authority = try LocalAuthority(making: RootTerms(user: "tester", host: "here", days: 30), at: now)
            let leaf = try authority.leaf(for: LeafName("one.test"), at: now)
            let context = try #require(ServerTLSContext())
            let session = try #require(TLSSession(context, showing: leaf.certificate, key: leaf.key, scope: []))
            client = TLSClient(descriptor: ends[1], TLSClient.Terms(serverName: "one.test"))
            Self.shakeHands(client, session, ends[0])
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            var channel = ByteChannel(descriptor: ends[0])
            channel.begin(session)
            _ = channel.open(UnsafeRawBufferPointer(start: nil, count: 0), into: buffer)
            end = ClientRelayEnd(channel, OutputQueue(), through: buffers, expectsNotifiedEnd: true)
        }

        private static func shakeHands(_ client: TLSClient, _ session: TLSSession, _ descriptor: Int32) {
            nonisolated(unsafe) let client = client
            let isDone = DispatchSemaphore(value: 0)
            Thread {
                precondition(client.handshake() == .done)
                isDone.signal()
            }.start()
            var octets = [UInt8](repeating: 0, count: 16_384)
            var outcome = TLSSession.Handshake.needsMore
            while case .needsMore = outcome {
                let count = recv(descriptor, &octets, octets.count, 0)
                precondition(count > 0)
                outcome = octets.withUnsafeBytes { session.handshake(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                let answer = session.output
                session.output = []
                if !answer.isEmpty { precondition(Glibc.send(descriptor, answer, answer.count, 0) == answer.count) }
            }
            isDone.wait()
        }

        deinit {
            close(descriptor)
            close(clientDescriptor)
            buffer.deallocate()
        }

        /// Sends as many bytes as the connection accepts.
        func send(_ octets: [UInt8]) -> Int { Glibc.send(clientDescriptor, octets, octets.count, larder_msg_dontwait) }

        /// Receives the bytes that have arrived for the client.
        /// - Returns: the number of bytes.
        func takeAnswers() -> Int {
            var octets = [UInt8](repeating: 0, count: 1 << 20)
            return max(recv(clientDescriptor, &octets, octets.count, larder_msg_dontwait), 0)
        }
    }

    @Test("Records without data are processed one read at a time, and are not taken for the end of the input")
    func leavesOthersTheirTurn() throws {
        let connection = try Connection()
        let updates = connection.client.keyUpdates(2000, wantAnswers: false)
        #expect(connection.send(updates) == updates.count && updates.count > connection.buffers.records.count)
        #expect(connection.end.receive(into: connection.buffer) == nil)
        #expect(connection.end.receive(into: connection.buffer) == nil)
        #expect(connection.end.receive(into: connection.buffer) == .wouldBlock)
    }

    @Test("TLS's own replies are sent at once, and a client that does not read them is disconnected before they grow large")
    func boundsAnswers() throws {
        let connection = try Connection()
        while connection.takeAnswers() > 0 {}
        // OpenSSL delays the reply to the last one until its next operation.
        #expect(connection.send(connection.client.keyUpdates(2, wantAnswers: true)) > 0)
        #expect(connection.end.receive(into: connection.buffer) == nil)
        #expect(connection.takeAnswers() > 0)
        let limit = ClientConnection.answersLimit + connection.buffers.records.count
        var answered = 0
        var hasFailed = false
        // The kernel buffers some for the client.
        while !hasFailed, answered < 8 * limit {
            let updates = connection.client.keyUpdates(1000, wantAnswers: true)
            try #require(connection.send(updates) == updates.count)
            answered += updates.count
            hasFailed = connection.end.receive(into: connection.buffer) == .failed
        }
        #expect(hasFailed)
    }
}
