import TestSupport
import Testing

@testable import CommandEnvironment

@Suite("DNS in a command's own network namespace (RFC 1035)")
struct NameAnswerTests {
    private static let address: [UInt8] = [127, 0, 0, 1]

    /// - Parameters:
    ///   - type: 1 is an IPv4 address, 28 an IPv6 address.
    ///   - rest: the bytes after the question.
    private static func query(
        _ labels: [String], type: UInt8 = 1, space: UInt8 = 1, flags: UInt8 = 1, questions: UInt8 = 1, rest: [UInt8] = []
    ) -> [UInt8] {
        let head = [0xAB, 0xCD, flags, 0, 0, questions, 0, 0, 0, 0, 0, rest.isEmpty ? 0 : 1]
        return head + labels.flatMap { [UInt8($0.utf8.count)] + $0.utf8 } + [0, 0, type, 0, space] + rest
    }

    private static func answer(_ query: [UInt8]) -> [UInt8]? {
        NameAnswer.answer(to: query) { _ in
            .addresses(ipv4: address, ipv6: nil)
        } exists: { _ in
            true
        }
    }

    @Test("A name has one IPv4 address, in any case of letters and with EDNS; the response repeats the question")
    func hasAnAddress() throws {
        for rest in [[], [0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0]] as [[UInt8]] {
            for type in [1, 255] as [UInt8] {
                let query = Self.query(["Shop", "example"], type: type, rest: rest)
                let answer = try #require(Self.answer(query))
                let question = Array(query[12..<query.count - rest.count])
                // The response is authoritative, recursion was desired and is available; one question, one record.
                #expect(answer.prefix(12) == [0xAB, 0xCD, 0x85, 0x80, 0, 1, 0, 1, 0, 0, 0, 0])
                #expect(Array(answer[12..<12 + question.count]) == question)
                #expect(answer.suffix(16) == [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1])
                #expect(answer.count == 12 + question.count + 16)
            }
        }
    }

    @Test("A name has no other records: no IPv6 address, no mail, no text", arguments: [28, 15, 16, 12, 65] as [UInt8])
    func hasNothingElse(type: UInt8) throws {
        let answer = try #require(Self.answer(Self.query(["shop", "example"], type: type)))
        #expect(answer.prefix(12) == [0xAB, 0xCD, 0x85, 0x80, 0, 1, 0, 0, 0, 0, 0, 0])
        #expect(answer.count == 12 + 14 + 4)
    }

    @Test("A name with addresses of its own has one IPv4 and one IPv6 address; a query for any record returns both")
    func hasTwoAddresses() throws {
        let ipv6 = [UInt8](repeating: 0xFD, count: 16)
        func answer(type: UInt8, ipv6: [UInt8]?) throws -> [UInt8] {
            var asked: [String] = []
            let answer = NameAnswer.answer(to: Self.query(["Shop", "example"], type: type)) { name in
                asked.append(String(decoding: name, as: UTF8.self))
                return .addresses(ipv4: Self.address, ipv6: ipv6)
            } exists: { _ in
                true
            }
            #expect(asked == ["Shop.example"])
            return try #require(answer)
        }
        let short: [UInt8] = [0xC0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4] + Self.address
        let long: [UInt8] = [0xC0, 12, 0, 28, 0, 1, 0, 0, 0, 0, 0, 16] + ipv6
        #expect(try answer(type: 28, ipv6: ipv6).suffix(28) == long[...])
        #expect(try answer(type: 1, ipv6: ipv6).suffix(16) == short[...])
        let all = try answer(type: 255, ipv6: ipv6)
        #expect(all[7] == 2 && all.suffix(44) == (short + long)[...])
        #expect(try answer(type: 28, ipv6: nil)[7] == 0)
    }

    @Test("A name that does not exist, and one that cannot be answered, have their own response codes")
    func tellsOfNoName() throws {
        for (resolution, code) in [(NameResolution.none, 3), (.refused, 5)] as [(NameResolution, UInt8)] {
            for type in [1, 28, 255] as [UInt8] {
                let query = Self.query(["a"], type: type)
                let answer = try #require(
                    NameAnswer.answer(to: query) { _ in
                        resolution
                    } exists: { _ in
                        true
                    })
                #expect(answer[3] & 0x0F == code && answer[7] == 0 && answer[12...] == query[12...])
            }
        }
    }

    @Test(
        "A query for other records of a missing name gets the same response as a query for its addresses, and looks up no name",
        arguments: [15, 16, 12, 33, 65, 2, 6] as [UInt8])
    func tellsOfNoNameInEachType(type: UInt8) throws {
        let query = Self.query(["Mail", "denied", "test"], type: type)
        var asked: [String] = []
        let answer = NameAnswer.answer(to: query) { _ in
            Issue.record("looks up addresses")
            return .none
        } exists: { name in
            asked.append(String(decoding: name, as: UTF8.self))
            return false
        }
        #expect(try #require(answer)[3] & 0x0F == 3 && answer?[7] == 0 && asked == ["Mail.denied.test"])
    }

    @Test("An invalid query gets an error, or no response")
    func tellsWhatIsNone() {
        func code(_ query: [UInt8]) -> UInt8? { Self.answer(query).map { $0[3] & 0x0F } }
        #expect(code([]) == nil && code(Array(Self.query(["a"])[..<11])) == nil, "no head")
        #expect(code(Self.query(["a"], flags: 0x81)) == nil, "an answer itself")
        #expect(code(Self.query(["a"]) + Array(repeating: 0, count: NameAnswer.queryLimit)) == nil, "too long")
        let longest = Self.query(["a"])
        #expect(code(longest + Array(repeating: 0, count: NameAnswer.queryLimit - longest.count)) == 0, "not too long")
        #expect(code(Self.query(["a"], flags: 0x29)) == 4, "an update")
        #expect(code(Self.query(["a"], space: 3)) == 5, "another space of names")
        #expect(code(Self.query(["a"], questions: 0)) == 1 && code(Self.query(["a"], questions: 2)) == 1)
        #expect(code(Self.query(["a"]).dropLast()) == 1, "cut off")
        #expect(code(Array(Self.query(["a"])[..<12]) + [0xC0, 12, 0, 1, 0, 1]) == 1, "a name by reference")
        #expect(code(Self.query([])) == 0, "the root")
        let label = String(repeating: "a", count: 63)
        #expect(code(Self.query([label])) == 0 && code(Self.query([label + "a"])) == 1)
        let rest = String(repeating: "b", count: 61)
        #expect(code(Self.query([label, label, label, rest])) == 0, "255 octets")
        #expect(code(Self.query([label, label, label, rest + "b"])) == 1, "256 octets")
    }

    @Test("Random and damaged queries get no response, or a short one to the same question", arguments: 0..<10 as Range<UInt64>)
    func standsChance(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2000 {
            let rest: [UInt8] = random.chance(30) ? [0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0] : []
            var query = Self.query(["shop", "example"], rest: rest)
            if random.chance(40) {
                query = (0..<random.below(600)).map { _ in UInt8(random.below(256)) }
            } else {
                for _ in 0...random.below(6) { query[random.below(query.count)] = UInt8(random.below(256)) }
                if random.chance(30) { query.removeLast(random.below(query.count)) }
            }
            guard let answer = Self.answer(query) else {
                #expect(query.count < 12 || query[2] & 0x80 != 0)
                continue
            }
            #expect(Array(answer[..<2]) == Array(query[..<2]) && answer[2] & 0x80 != 0 && answer.count <= 512)
            #expect(answer.count <= query.count + 16)
        }
    }
}
