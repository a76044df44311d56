import Foundation
import HTTPCaching
import HTTPMessage
import Testing

@testable import ProxyCore

/// Every member that the closed lists of words allow. `Tests/Lint` checks them with another parser: if `LARDER_STATUS_FIELDS` is set in the
/// environment, they are written to the file of that name, one a line.
@Suite("Every possible Cache-Status and Proxy-Status (RFC 9211, RFC 9209)")
struct StatusFieldsTests {
    static let outcomes: [CacheStatus.Outcome] =
        [.hit, .notSatisfied] + ForwardReason.allCases.map { .forwarded($0) }

    static let details: [StaticString] =
        ["unsafe"] + LifetimeSource.allCases.compactMap(\.detail) + StaleReason.allCases.map(\.word)
        + StorageRefusal.allCases.map(\.word)

    /// Every character allowed in a rule's name, in names of the maximum length.
    static let ruleNames: [String] = {
        let characters = (0x21...0x7E).filter { $0 != 0x22 && $0 != 0x5C }.map { Character(Unicode.Scalar(UInt8($0))) }
        return [String(characters.prefix(64)), String(characters.suffix(64)), "two words"]
    }()

    private static func write(_ status: CacheStatus, rule: String = "") -> String {
        var output: [UInt8] = []
        output.append(addingCapacity: CacheStatus.lineLimit) { status.write(rule: rule, into: &$0) }
        return String(decoding: output, as: UTF8.self)
    }

    private static func cacheStatuses() -> [String] {
        var members: [String] = []
        for outcome in outcomes {
            for remaining in [nil, 0, 1 << 31, -(1 << 31)] as [Int64?] {
                for forwardStatus in [nil, .notModified, Status(599)] as [Status?] {
                    for (stored, collapsing) in [(false, CacheStatus.Collapsing.none), (true, .collapsed), (true, .failed)] {
                        var status = CacheStatus(outcome)
                        (status.remaining, status.forwardStatus) = (remaining, forwardStatus)
                        (status.stored, status.collapsing) = (stored, collapsing)
                        members.append(write(status))
                    }
                }
            }
            for detail in details {
                var status = CacheStatus(outcome)
                status.detail = detail
                members.append(write(status))
            }
            for entry in OverriddenWords.all {
                var status = CacheStatus(outcome)
                status.overriddenWord = entry.text
                members += ruleNames.map { write(status, rule: $0) }
            }
        }
        return members
    }

    /// The Proxy-Status for each fault in a response to a GET, without and with a response from upstream.
    private static func proxyStatuses() throws -> [String] {
        try GatewayErrorTests.faults.map { fault in
            let book = try Playbook()
            try book.run(
                .request("GET http://a.example/x"), [.lookUp(onDisk: false)],
                .found([]), [.joinFetch],
                .leads, [.fetch],
                .fails(fault), [.releaseJoined, .sendError],
                .delivered, [.finish])
            return try #require(book.written?["proxy-status"])
        }
    }

    @Test("Each Cache-Status and Proxy-Status member is a valid structured field")
    func areStructuredFields() throws {
        let members = Set(Self.cacheStatuses() + (try Self.proxyStatuses())).sorted()
        #expect(members.count > 500)
        for member in members { #expect(StructuredFields.isItem(member), "\(member)") }
        guard let path = ProcessInfo.processInfo.environment["LARDER_STATUS_FIELDS"] else { return }
        try members.map { $0 + "\n" }.joined().write(toFile: path, atomically: true, encoding: .utf8)
    }
}
