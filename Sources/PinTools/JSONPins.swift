import CommandSupport
import Foundation
import LarderSettings
import ProxyPolicy
import ServerTrust
import TextCoding

/// All data on pins, for programs: `{"hosts": [{"host": …, "pins": […], …}]}`, with the settings' keys.
enum JSONPins {
    static func written(_ hosts: [PinnedHost]) -> String {
        let objects = hosts.map { host in
            var members: [(String, JSONText)] = [
                ("host", .string(host.breadth == .itself ? host.name : "*.\(host.name)")),
                ("pins", .array(host.live.map { .string("\($0)") })), ("backup", .array(host.backup.map { .string("\($0)") })),
                ("mode", .string(host.isReportOnly ? "report_only" : "enforce")),
            ]
            if host.breadth != .itself { members.append(("labels", .string(host.breadth == .oneLabelBelow ? "one" : "all"))) }
            if let day = host.enforcedFrom { members.append(("enforce_from", .string("\(day)"))) }
            if let port = host.port { members.append(("port", .number(Int(port)))) }
            if let expires = host.expires {
                members.append(("expires", .string("\(expires)")))
                members.append(("on_expiry", .string(host.onExpiry == .fails ? "fail" : "report_only")))
            }
            return JSONText.object(members)
        }
        return JSONText.object([("hosts", .array(objects))]).written() + "\n"
    }

    private struct Document: Decodable {
        struct Host: Decodable {
            enum Labels: String, Decodable { case one, all }
            enum Mode: String, Decodable {
                case enforce
                case reportOnly = "report_only"
            }

            enum Expiry: String, Decodable {
                case fail
                case reportOnly = "report_only"
            }

            enum CodingKeys: String, CodingKey, CaseIterable {
                case host, pins, backup, mode, labels, port, expires
                case onExpiry = "on_expiry"
                case enforcedFrom = "enforce_from"
            }

            let host: String
            let pins: [String]
            let backup: [String]?
            let mode: Mode?
            let labels: Labels?
            let port: UInt16?
            let expires: String?
            let onExpiry: Expiry?
            let enforcedFrom: String?
        }

        enum CodingKeys: String, CodingKey, CaseIterable { case hosts }

        let hosts: [Host]
    }

    /// Decodes only the names of an object's members.
    private struct Names: Decodable {
        struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        let names: [String]

        init(from decoder: any Decoder) throws {
            names = try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue)
        }
    }

    static func read(_ text: String) throws(PinFormatError) -> [PinnedHost] {
        let document: Document
        let names: [(host: String?, names: Names)]
        do {
            let decoder = JSONDecoder()
            let data = Data(text.utf8)
            document = try decoder.decode(Document.self, from: data)
            let hosts = try decoder.decode([String: [Names]].self, from: data)["hosts"] ?? []
            names = [(nil, try decoder.decode(Names.self, from: data))] + zip(document.hosts.map(\.host), hosts).map { ($0, $1) }
        } catch {
            throw PinFormatError("the file is not JSON in the format of `larder pins export --format json`")
        }
        for (host, names) in names {
            let known =
                host == nil ? Document.CodingKeys.allCases.map(\.rawValue) : Document.Host.CodingKeys.allCases.map(\.rawValue)
            guard let name = names.names.sorted().first(where: { !known.contains($0) }) else { continue }
            let nearest = NearestName.of(name, among: known).map { "; did you mean `\($0)`?" } ?? ""
            throw PinFormatError("unknown key `\(printable(name))`\(host.map { " of \(printable($0))" } ?? "")\(nearest)")
        }
        var hosts: [PinnedHost] = []
        for host in document.hosts { hosts.append(try pinned(host)) }
        return hosts
    }

    private static func pinned(_ host: Document.Host) throws(PinFormatError) -> PinnedHost {
        let title = printable(host.host)
        func day(_ text: String?, _ key: String) throws(PinFormatError) -> CalendarDay? {
            guard let text else { return nil }
            guard let day = CalendarDay(text) else { throw PinFormatError("`\(key)` of \(title) is not a date") }
            return day
        }
        var pinned = PinnedHost(
            pattern: host.host, labels: host.labels == .one ? .one : .all, live: try digests(host.pins, of: title))
        if pinned.breadth == .itself, host.labels != nil { throw PinFormatError("`labels` of \(title) is only for patterns") }
        if host.onExpiry != nil, host.expires == nil { throw PinFormatError("\(title) has `on_expiry` without `expires`") }
        if host.mode == .enforce, host.enforcedFrom != nil {
            throw PinFormatError("`mode` of \(title) must be report_only until the day of `enforce_from`")
        }
        if host.port == 0 { throw PinFormatError("\(title) has an invalid port") }
        pinned.port = host.port
        pinned.backup = try digests(host.backup ?? [], of: title)
        pinned.expires = try day(host.expires, "expires")
        pinned.onExpiry = host.onExpiry == .reportOnly ? .reports : .fails
        pinned.enforcedFrom = try day(host.enforcedFrom, "enforce_from")
        pinned.isReportOnly = host.mode == .reportOnly || pinned.enforcedFrom != nil
        return pinned
    }

    private static func digests(_ texts: [String], of title: String) throws(PinFormatError) -> [SHA256Digest] {
        var digests: [SHA256Digest] = []
        for text in texts {
            digests.append(try SHA256Digest(pin: text, behind: "sha256/", of: title))
        }
        return digests
    }
}
