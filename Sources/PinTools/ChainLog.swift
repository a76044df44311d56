import CommandSupport
import Foundation
import ServerTrust
import TextCoding

/// The verified chains of servers, read from the access log (NDJSON) of a running Larder, by server.
package struct ChainLog {
    /// One certificate of a chain, as logged.
    struct Link: Equatable {
        let key: SHA256Digest
        /// The last day on which the certificate is valid, if the log has it.
        let end: CalendarDay?
        let subject: String
    }

    /// A chain, how often it was seen, and when it was first and last seen according to the log.
    package struct Sighting {
        /// The certificates of the chain, the server's first.
        let chain: [Link]
        fileprivate(set) var count: Int
        fileprivate(set) var first: String
        fileprivate(set) var last: String
    }

    package struct Server: Hashable {
        package let host: String
        package let port: UInt16

        package init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    /// The chains of each server, in the order in which they were first seen.
    package private(set) var sightings: [Server: [Sighting]] = [:]
    /// Messages about the log file.
    package private(set) var notes: [String] = []
    /// Chains that were omitted because of the limits on servers, or on chains per server.
    private var unlistedCount = 0
    private var passedOverCount = 0
    private var hasGoodLine = false

    static let lineLimit = 128 * 1024
    static let serverLimit = 10_000
    static let chainLimit = 16
    /// How many unreadable lines are reported with their line numbers; further lines are only counted.
    static let noteLimit = 10

    package struct Unusable: Error { package let reason: String }

    /// - Parameters:
    ///   - path: `-` is standard input.
    ///   - servers: the servers to look for; empty means all.
    package static func reading(_ path: String, of servers: [Server]) throws(Unusable) -> ChainLog {
        var log = ChainLog()
        let wanted = Set(servers)
        do throws(LocalFile.Unreadable) {
            var reader = try LineReader(path: path, limit: lineLimit)
            var number = 0
            while let line = try reader.next() {
                number += 1
                log.take(line, number, wanted)
            }
        } catch {
            throw Unusable(reason: "cannot read the log: \(error.reason)")
        }
        if !log.hasGoodLine, log.passedOverCount > 0 {
            throw Unusable(reason: "no line is in the access log's ndjson format (log.access.format)")
        }
        log.addCounts()
        return log
    }

    private mutating func take(_ line: LineReader.Line, _ number: Int, _ wanted: Set<Server>) {
        guard case .whole(let octets) = line else { return passOver(number, "the line is too long") }
        if octets.isEmpty { return }
        guard octets.first == UInt8(ascii: "{"), octets.last == UInt8(ascii: "}") else {
            return passOver(number, "the line is not a complete JSON object")
        }
        // Most lines contain no handshake and need not be parsed.
        guard Self.holdsChain(octets) else { return hasGoodLine = true }
        guard let told = ParsedChain(octets) else { return passOver(number, "the certificate chain cannot be read") }
        hasGoodLine = true
        if wanted.isEmpty || wanted.contains(told.server) { note(told) }
    }

    private static func holdsChain(_ octets: [UInt8]) -> Bool { Data(octets).range(of: mark) != nil }

    /// The text that marks a line with a handshake. No peer can insert this text, because quotes in logged texts are escaped.
    private static let mark = Data("\"tls\":{".utf8)

    private mutating func note(_ told: ParsedChain) {
        guard sightings[told.server] != nil || sightings.count < Self.serverLimit else { return unlistedCount += 1 }
        var seen = sightings[told.server] ?? []
        if let index = seen.firstIndex(where: { $0.chain == told.chain }) {
            seen[index].count += 1
            seen[index].first = min(seen[index].first, told.time)
            seen[index].last = max(seen[index].last, told.time)
        } else if seen.count < Self.chainLimit {
            seen.append(Sighting(chain: told.chain, count: 1, first: told.time, last: told.time))
        } else {
            unlistedCount += 1
        }
        sightings[told.server] = seen
    }

    private mutating func passOver(_ number: Int, _ reason: String) {
        passedOverCount += 1
        if passedOverCount <= Self.noteLimit { notes.append("line \(number) is skipped: \(reason)") }
    }

    private mutating func addCounts() {
        let further = passedOverCount - Self.noteLimit
        if further > 0 { notes.append("\(further) further lines are skipped") }
        if unlistedCount > 0 {
            let are =
                unlistedCount == 1
                ? "handshake with another server or chain is" : "handshakes with other servers or chains are"
            notes.append(
                "\(unlistedCount) \(are) left out: Larder lists at most \(Self.serverLimit) servers, and \(Self.chainLimit) chains per server"
            )
        }
    }
}

/// The data of one line.
private struct ParsedChain {
    let server: ChainLog.Server
    let chain: [ChainLog.Link]
    let time: String

    private struct Line: Decodable {
        struct TLS: Decodable {
            struct Link: Decodable {
                let key: String
                let until: String?
                let subject: String?
            }

            let host: String
            let chain: [Link]
        }

        let ts: String
        let tls: TLS
    }

    /// - Returns: `nil` if Larder cannot have written the line.
    init?(_ octets: [UInt8]) {
        guard let line = try? JSONDecoder().decode(Line.self, from: Data(octets)),
            let named = NamedServer(argument: line.tls.host), let port = named.port, Self.isTime(line.ts),
            (1...TrustVerdict.chainLimit).contains(line.tls.chain.count)
        else { return nil }
        var chain: [ChainLog.Link] = []
        for link in line.tls.chain {
            guard let pin = try? Pin(link.key) else { return nil }
            var end: CalendarDay?
            if let until = link.until {
                guard Self.isTime(until), let day = CalendarDay(String(until.prefix(10))) else { return nil }
                end = day
            }
            chain.append(ChainLog.Link(key: pin.publicKeyDigest, end: end, subject: printable(link.subject ?? "", limit: 512)))
        }
        server = ChainLog.Server(host: named.host, port: port)
        self.chain = chain
        time = line.ts
    }

    /// `2027-01-31T12:00:00Z`, with or without a fraction: sorts as text in the order of time.
    private static func isTime(_ text: String) -> Bool {
        text.wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z/) != nil
    }
}
