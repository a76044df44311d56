import CertificateAuthority
import Glibc
import HTTPMessage
import ServerTrust
import TestSupport
import Testing

@testable import TLSChannel

/// Both sides of TLS in memory. What one side sends reaches the other in pieces of random lengths.
final class SessionPair {
    let client: TLSSession
    let server: TLSSession
    let judge: HandshakeJudge
    private var generator: SeededGenerator
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    private var isOpen = (client: false, server: false)
    private(set) var received = (client: [UInt8](), server: [UInt8]())
    /// The last results that were not bytes.
    private(set) var last = (client: TLSSession.Received.needsMore, server: TLSSession.Received.needsMore)
    private(set) var failure: TLSFailure?

    /// - Parameters:
    ///   - name: the name in the server's certificate.
    ///   - host: the host that the client means.
    init(seed: UInt64, name: String = "one.test", host: String = "one.test") throws {
        generator = SeededGenerator(seed: seed)
        let now = POSIXTime(seconds: Int64(time(nil)))
        let authority = try LocalAuthority(making: RootTerms(user: "tester", host: "here", days: 30), at: now)
        let leaf = try authority.leaf(for: LeafName(name), at: now)
        let serving = try #require(ServerTLSContext())
        server = try #require(TLSSession(serving, showing: leaf.certificate, key: leaf.key, scope: []))
        let policy = try TrustPolicy(anchors: .given(TrustAnchors([authority.root])))
        judge = HandshakeJudge(policy: policy, host: host) { Timestamp(milliseconds: now.seconds * 1000) }
        let context = try #require(ClientTLSContext(logsKeys: false))
        client = try #require(TLSSession(context, judgedBy: judge, offering: ["http/1.1"]))
        if case .failed(let failure) = client.handshake(UnsafeRawBufferPointer(start: nil, count: 0)) { self.failure = failure }
    }

    deinit { buffer.deallocate() }

    func send(_ octets: [UInt8], from side: TLSSession) -> Bool { octets.withUnsafeBytes(side.send) }

    /// Delivers until neither side has more to send.
    func settle() {
        while !client.output.isEmpty || !server.output.isEmpty {
            deliver(Self.take(&client.output, &generator), to: server, &isOpen.server, &received.server, &last.server)
            deliver(Self.take(&server.output, &generator), to: client, &isOpen.client, &received.client, &last.client)
        }
    }

    private static func take(_ output: inout [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        let limit = min(output.count, [1, 7, 300, 20_000].randomElement(using: &generator)!)
        let piece = Array(output.prefix(Int.random(in: 0...limit, using: &generator)))
        output.removeFirst(piece.count)
        return piece
    }

    private func deliver(
        _ piece: [UInt8], to side: TLSSession, _ isOpen: inout Bool, _ content: inout [UInt8], _ last: inout TLSSession.Received
    ) {
        var rest = piece
        if !isOpen {
            switch piece.withUnsafeBytes(side.handshake) {
            case .needsMore: return
            case .failed(let failure): return self.failure = self.failure ?? failure
            case .established(let taken):
                isOpen = true
                rest = Array(piece[taken...])
            }
        }
        switch rest.withUnsafeBytes({ side.receive($0, into: buffer) }) {
        case .octets(let count): content += buffer[..<count]
        case let other: last = other
        }
    }
}
