import FuzzTargets
import HTTPMessage
import Testing

@testable import HTTPWire

@Suite("ClientHello (RFC 8446 §4.1.2, §5.1; RFC 6066 §3)")
struct ClientHelloTests {
    private static func hello(_ name: String?, isEncrypted: Bool = false) -> ClientHello {
        var hello = ClientHello()
        hello.serverName = name.map { Array($0.utf8) }
        hello.hasEncryptedHello = isEncrypted
        return hello
    }

    private static func read(_ octets: [UInt8], ends: [Int]? = nil, limits: ParseLimits = ParseLimits()) -> ReadHello {
        ReadHello(octets, ends: ends ?? [octets.count], limits: limits)
    }

    private static func read(_ extensions: [(type: Int, octets: [UInt8])]?) -> ReadHello {
        read(WrittenHello.records(of: WrittenHello.message(extensions)))
    }

    @Test(
        "The name and the encrypted hello are found, in one record or many, however the bytes are split",
        arguments: [nil, "api.example", "a", String(repeating: "long.", count: 51)] as [String?], [1 << 14, 100, 7, 1])
    func reads(name: String?, recordLength: Int) {
        for isEncrypted in [false, true] {
            let hello = Self.hello(name, isEncrypted: isEncrypted)
            let octets = WrittenHello.records(hello, recordLength: recordLength)
            #expect(Self.read(octets) == .read(hello))
            #expect(Self.read(octets, ends: Cuts.each(of: octets.count)) == .read(hello))
            for end in stride(from: 1, to: octets.count, by: 1 + octets.count / 60) {
                #expect(Self.read(octets, ends: [end, octets.count]) == .read(hello))
                #expect(Self.read(Array(octets[..<end])) == .needsMore)
            }
        }
    }

    @Test("A hello without extensions has no name, and bytes after its records are ignored")
    func readsTheLeast() {
        #expect(Self.read(nil) == .read(Self.hello(nil)))
        #expect(Self.read([] as [(type: Int, octets: [UInt8])]) == .read(Self.hello(nil)))
        let octets = WrittenHello.records(Self.hello("a.example")) + [20, 3, 3, 0, 1, 1] + Array("early data".utf8)
        #expect(Self.read(octets) == .read(Self.hello("a.example")))
    }

    @Test("All received bytes are kept, to be forwarded")
    func holds() throws {
        var reader = ClientHelloReader(limits: ParseLimits())
        let octets = WrittenHello.records(Self.hello("a.example")) + [1, 2, 3]
        #expect(try reader.take(octets.span.extracting(0..<3)) == .needsMore)
        #expect(try reader.take(octets.span.extracting(3..<octets.count)) == .hello(Self.hello("a.example")))
        #expect(reader.octets == octets)
    }

    @Test(
        "Bytes that are not TLS are recognized by the first byte or two",
        arguments: ["GET / HTTP/1.1\r\n\r\n", "SSH-2.0-x\r\n", "\u{16}\u{10}\u{0}", "\u{18}\u{3}\u{3}", "\u{0}"])
    func tellsOthers(text: String) {
        let octets = Array(text.utf8)
        #expect(Self.read(octets) == .notTLS)
        #expect(Self.read(octets, ends: Cuts.each(of: octets.count)) == .notTLS)
    }

    @Test(
        "Bytes that only some servers accept as TLS are rejected",
        arguments: [
            [22, 2, 1, 0, 5, 1, 0, 0, 1, 0], [21, 3, 1, 0, 2, 1, 90, 22, 3, 1], [23, 3, 3, 0, 1, 0], [0x80, 0x2E, 1, 3, 1, 0],
        ] as [[UInt8]])
    func refusesOddBeginnings(octets: [UInt8]) {
        #expect(Self.read(octets) == .refused(.malformed))
        #expect(Self.read(octets, ends: Cuts.each(of: octets.count)) == .refused(.malformed))
    }

    private static func protocols(_ names: [String]) -> (type: Int, octets: [UInt8]) {
        let list = names.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
        return (16, [UInt8(list.count >> 8), UInt8(list.count & 0xFF)] + list)
    }

    @Test(
        "The application protocols that a client offers are recognized (RFC 7301)",
        arguments: [
            (["http/1.1"], [.http1]), (["h2", "http/1.1"], [.http1, .http2]), (["h2"], [.http2]), (["http/1.0"], [.http10]),
            (["\u{A}\u{A}", "h2", "http/1.1"], [.other, .http1, .http2]),
        ] as [([String], ApplicationProtocols)])
    func readsProtocols(names: [String], protocols: ApplicationProtocols) throws {
        guard case .read(let hello) = Self.read([Self.protocols(names)]) else { throw Unread() }
        #expect(hello.protocols == protocols)
        #expect(hello.mayMeanHTTP1 == names.contains { $0.hasPrefix("http/1.") })
    }

    private struct Unread: Error {}

    @Test(
        "An invalid list of protocols is rejected",
        arguments: [[], [0, 0], [0, 1, 0], [0, 3, 3, 65, 65], [0, 2, 1, 65, 65], [0, 4, 1, 65, 0, 0]] as [[UInt8]])
    func refusesProtocols(octets: [UInt8]) { #expect(Self.read([(16, octets)]) == .refused(.malformed)) }

    @Test("A repeated list of protocols is rejected")
    func refusesSecondProtocols() {
        #expect(Self.read([Self.protocols(["h2"]), Self.protocols(["http/1.1"])]) == .refused(.malformed))
    }

    private static let name = WrittenHello.serverName(Array("a.example".utf8))

    @Test("A name that is encrypted in a former way (ESNI) counts as an encrypted hello")
    func readsEncryptedName() throws {
        guard case .read(let hello) = Self.read([(0xFFCE, [0])]) else { throw Unread() }
        #expect(hello.hasEncryptedHello)
        guard case .read(let plain) = Self.read([(0xFFCD, [0])]) else { throw Unread() }
        #expect(!plain.hasEncryptedHello)
    }

    @Test(
        "A hello that servers might read differently is rejected",
        arguments: [
            ("the name twice", [(0, name), (0, name)]),
            ("two names", [(0, [0, 24] + name.dropFirst(2) + name.dropFirst(2))]),
            ("a name of another type", [(0, [0, 12, 1, 0, 9] + Array("a.example".utf8))]),
            ("an empty name", [(0, [0, 3, 0, 0, 0])]),
            ("an empty list", [(0, [0, 0])]),
            ("nothing", [(0, [])]),
            ("a list longer than its extension", [(0, [0, 13] + name.dropFirst(2))]),
            ("a list shorter than its extension", [(0, name + [0])]),
            ("an encrypted hello twice", [(0xFE0D, [0]), (0xFE0D, [0])]),
        ] as [(String, [(Int, [UInt8])])])
    func refusesAmbiguity(what: String, extensions: [(Int, [UInt8])]) {
        #expect(Self.read(extensions.map { (type: $0.0, octets: $0.1) }) == .refused(.malformed), "\(what)")
    }

    @Test("Lengths that do not agree, empty records, records of another type, and other messages are rejected")
    func refusesDamage() {
        let message = WrittenHello.message([(0, Self.name)])
        let damaged: [[UInt8]] = [
            // After the message.
            WrittenHello.records(of: message + [2]),
            // An empty record, at the start and in between.
            [22, 3, 1, 0, 0],
            WrittenHello.records(of: Array(message[..<9])) + [22, 3, 1, 0, 0],
            WrittenHello.records(of: Array(message[..<9])) + [21, 3, 1, 0, 2, 1, 0],
            WrittenHello.records(of: Array(message[..<9])) + [22, 2, 1, 0, 2, 1, 0],
            [22, 3, 1, 0x40, 1, 1],
            [22, 3, 3, 0, 4, 2, 0, 0, 0],
        ]
        for octets in damaged { #expect(Self.read(octets) == .refused(.malformed), "\(octets)") }
        // Each inner length, one too great or too small.
        for place in [38, 39, 40, 43, 45, 46, 50] {
            for step in [1, -1] as [Int8] where message[place] > 0 || step > 0 {
                var changed = message
                changed[place] = UInt8(truncatingIfNeeded: Int(changed[place]) + Int(step))
                #expect(Self.read(WrittenHello.records(of: changed)) == .refused(.malformed), "\(place) \(step)")
            }
        }
    }

    @Test("The limit applies to all records together, and to the lengths that they declare")
    func keepsLimit() {
        let octets = WrittenHello.records(Self.hello("a.example"), recordLength: 10)
        var limits = ParseLimits()
        limits.clientHelloLength = octets.count
        #expect(Self.read(octets, limits: limits) == .read(Self.hello("a.example")))
        limits.clientHelloLength -= 1
        #expect(Self.read(octets, limits: limits) == .refused(.tooLong))
        #expect(Self.read(octets, ends: Cuts.each(of: octets.count), limits: limits) == .refused(.tooLong))
        #expect(Self.read([22, 3, 1, 0, 4, 1, 0, 0x80, 0]) == .refused(.tooLong))
        #expect(Self.read([22, 3, 1, 0, 4, 1, 0, 0x7F, 0]) == .needsMore)
    }

    @Test("A hello with one damaged byte gives the same result however it is split", arguments: 0..<100 as Range<UInt64>)
    func survivesDamage(seed: UInt64) {
        var chance = Chance(seed: seed)
        var octets = WrittenHello.records(Self.hello("api.example", isEncrypted: true), recordLength: chance.pick([1000, 30, 3]))
        octets[Int.random(in: 0..<octets.count, using: &chance)] = UInt8.random(in: 0...255, using: &chance)
        #expect(FuzzTarget.clientHello.check(octets) == nil)
    }
}
