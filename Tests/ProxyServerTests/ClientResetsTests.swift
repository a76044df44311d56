import EventLoop
import HTTPMessage
import Testing

@testable import ProxyServer

@Suite("Resets of all HTTP/2 connections of a client")
struct ClientResetsTests {
    private let resets = ClientResets()
    private let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    private func note(_ count: Int, _ address: IPAddress, after milliseconds: Int = 0) -> Bool {
        resets.note(count, of: address, limit: 5, window: 10_000, at: start.advanced(milliseconds: milliseconds))
    }

    private func exceeds(_ address: IPAddress, after milliseconds: Int = 0) -> Bool {
        resets.exceeds(5, of: address, window: 10_000, at: start.advanced(milliseconds: milliseconds))
    }

    @Test("A client is within the limit with five resets, and above it with six; another client is not concerned")
    func counts() {
        let client = IPAddress(ipv4: 0x0A00_0001)
        #expect(!note(3, client) && !note(2, client, after: 9_999) && !exceeds(client, after: 9_999))
        #expect(note(1, client, after: 9_999) && exceeds(client, after: 9_999))
        #expect(!exceeds(IPAddress(ipv4: 0x0A00_0002), after: 9_999))
        #expect(!exceeds(client, after: 10_000) && !note(5, client, after: 10_000))
    }

    @Test("The addresses of one /64 network count as one client, and IPv4 addresses count the same in IPv6")
    func joinsAddresses() {
        #expect(!note(5, IPAddress(ipv6High: 0x2001_0DB8_0000_0001, low: 1)))
        #expect(note(1, IPAddress(ipv6High: 0x2001_0DB8_0000_0001, low: 2)))
        #expect(!note(1, IPAddress(ipv6High: 0x2001_0DB8_0000_0002, low: 1)))
        #expect(!note(5, IPAddress(ipv4: 0x0A00_0001)))
        #expect(note(1, IPAddress(ipv6High: 0, low: 0xFFFF_0A00_0001)))
    }

    @Test("As many clients are counted as the table holds, and the next window counts others")
    func bounds() {
        for number in 0..<UInt32(ClientResets.clientLimit) { _ = note(6, IPAddress(ipv4: number)) }
        #expect(exceeds(IPAddress(ipv4: UInt32(ClientResets.clientLimit) - 1)))
        let next = IPAddress(ipv4: UInt32(ClientResets.clientLimit))
        #expect(!note(6, next) && !exceeds(next))
        #expect(note(6, next, after: 10_000))
    }
}
