import Foundation
import ProxyAdmin
import ServerTrust

/// Everything that is known of pins, for programs: `{"hosts": [{"host": …, "pins": […], …}]}`, in the words of the settings.
enum JSONPins {
    static func written(_ hosts: [PinnedHost]) -> String {
        let objects = hosts.map { host in
            var members: [(String, JSONText)] = [
                ("host", .string(host.breadth == .itself ? host.name : "*.\(host.name)")),
                ("pins", .array(host.live.map { .string("\($0)") })), ("backup", .array(host.backup.map { .string("\($0)") })),
                ("mode", .string(host.isReportOnly ? "report_only" : "enforce")),
            ]
            if host.breadth != .itself { members.append(("labels", .string(host.breadth == .oneLabelBelow ? "one" : "all"))) }
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

            let host: String
            let pins: [String]
            let backup: [String]?
            let mode: Mode?
            let labels: Labels?
            let port: UInt16?
            let expires: String?
            let onExpiry: Expiry?
        }

        let hosts: [Host]
    }

    static func read(_ text: String) throws(PinFormatFault) -> [PinnedHost] {
        let document: Document
        do {
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            document = try decoder.decode(Document.self, from: Data(text.utf8))
        } catch {
            throw PinFormatFault("this is not JSON as `larder pins export --format json` writes it")
        }
        var hosts: [PinnedHost] = []
        for host in document.hosts {
            let isPattern = host.host.hasPrefix("*.")
            var expires: CalendarDay?
            if let day = host.expires {
                guard let last = CalendarDay(day) else { throw PinFormatFault("`expires` of \(printable(host.host)) is no day") }
                expires = last
            }
            hosts.append(
                PinnedHost(
                    name: isPattern ? String(host.host.dropFirst(2)) : host.host,
                    breadth: !isPattern ? .itself : host.labels == .one ? .oneLabelBelow : .below, port: host.port,
                    live: try digests(host.pins), backup: try digests(host.backup ?? []), expires: expires,
                    onExpiry: host.onExpiry == .reportOnly ? .reports : .fails, isReportOnly: host.mode == .reportOnly))
        }
        return hosts
    }

    private static func digests(_ texts: [String]) throws(PinFormatFault) -> [SHA256Digest] {
        var digests: [SHA256Digest] = []
        for text in texts {
            guard text.hasPrefix("sha256/") else { throw PinFormatFault("`\(printable(text))` does not begin with sha256/") }
            digests.append(try SHA256Digest(pin: text.dropFirst(7)))
        }
        return digests
    }
}
