import CommandSupport
import EventLoop
import Foundation
import HTTPMessage
import PolicyTools
import SecretScanning
import Snapshots

/// Reads the requests that a policy is learned from, and replaces the secrets in them.
struct TrafficObserver {
    private(set) var traffic = ObservedTraffic()
    private let mask = SecretMask()

    /// - Parameter line: a line of the access log in NDJSON. Other lines are ignored.
    /// - Returns: whether the line is from the access log.
    @discardableResult
    mutating func add(line: [UInt8]) -> Bool {
        guard let record = try? JSONSerialization.jsonObject(with: Data(line)) as? [String: Any],
            let outcome = record["cache"] as? String, let url = record["url"] as? String
        else { return false }
        // `background`: a request that Larder sent by itself. `local` and `none`: requests to Larder itself.
        if ["background", "local", "none"].contains(outcome) { return true }
        let method = record["method"] as? String ?? ""
        if let address = record["upstream"] as? String { traffic.addAddress(address) }
        if outcome == "denied" {
            traffic.addDenied()
        } else if method == "CONNECT" {
            addConnect(to: url, record, isOpen: outcome == "tunnel")
        } else {
            add(method: method, url: url, status: (record["status"] as? NSNumber)?.uint16Value ?? 0)
        }
        return true
    }

    /// - Throws: `SnapshotError`, if the recording is damaged.
    mutating func add(recordingsOf snapshot: Snapshot) throws(SnapshotError) {
        for place in 0..<snapshot.count {
            let recording = try snapshot.recording(at: place)
            let url = String(decoding: recording.request.uri, as: UTF8.self)
            let method = String(decoding: recording.request.method, as: UTF8.self)
            add(method: method, url: url, status: recording.response.map { UInt16($0.status.code) } ?? 0)
        }
    }

    private mutating func add(method: String, url: String, status: UInt16) {
        traffic.add(ObservedRequest(method: method, url: masked(url)), status: status)
    }

    /// - Parameter isOpen: whether a tunnel was opened.
    private mutating func addConnect(to authority: String, _ record: [String: Any], isOpen: Bool) {
        let tunnel = ObservedTunnel(authority: authority, isClearText: record["uninspected"] as? String == "not_tls")
        let way = record["connect"] as? String
        if way == "intercept" || way == "http" {
            // The requests in the tunnel, if there were any, have lines of their own.
            if record["error"] != nil { traffic.addFailed(host: authority) }
            if let tunnel { traffic.addConnect(port: tunnel.port) }
        } else if isOpen {
            traffic.add(tunnel)
        } else {
            traffic.addFailed(host: authority)
        }
    }

    /// The URL without its query, with `{secret}` in place of each secret. If a segment contains a secret only after its percent-escapes
    /// are decoded, the whole segment is replaced, because the rules are made of decoded paths.
    private func masked(_ url: String) -> String {
        let place = maskedAsWritten(String(url.prefix { $0 != "?" && $0 != "#" }))
        guard place.utf8.contains(UInt8(ascii: "%")) else { return place }
        var segments = place.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        // A segment with a secret and percent-escapes can be decoded in several ways, so the whole segment is replaced.
        for index in segments.indices where segments[index].contains("%") && segments[index].contains(ObservedRequest.secretMark)
        {
            segments[index] = ObservedRequest.secretMark
        }
        var decoded = segments
        // A server may decode the path once or twice.
        for _ in 0..<2 {
            decoded = decoded.map(Self.decoded)
            let inPlace = maskedAsWritten(decoded.map(Self.withoutDelimiters).joined(separator: "/"))
                .split(separator: "/", omittingEmptySubsequences: false)
            // The first three parts are the scheme, an empty part and the host.
            for index in segments.indices.dropFirst(3) where decoded[index] != segments[index] {
                let isSecret =
                    isSecret(decoded[index])
                    || index < inPlace.count && String(inPlace[index]) != Self.withoutDelimiters(decoded[index])
                if isSecret { segments[index] = ObservedRequest.secretMark }
            }
        }
        return segments.joined(separator: "/")
    }

    /// Whether the text contains a secret. Each part after a percent-escape is also searched separately, because the escape may be
    /// malformed.
    private func isSecret(_ text: String) -> Bool {
        let behindEscapes = text.split(separator: "%", omittingEmptySubsequences: false).dropFirst().map {
            String($0.dropFirst(2))
        }
        return ([text] + behindEscapes).contains { part in
            let alone = "https://host/\(part)"
            return mask.masked(url: alone) != alone
        }
    }

    /// Decodes each valid escape, even if others are malformed.
    private static func decoded(_ segment: String) -> String {
        let bytes = Array(segment.utf8)
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let byte = PercentEncoding.byte(in: bytes.span, at: index)
            decoded.append(byte ?? bytes[index])
            index += byte == nil ? 1 : 3
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// Percent-encodes the delimiters, so that the text is one segment of a URL.
    private static func withoutDelimiters(_ segment: String) -> String {
        segment.replacing("/", with: "%2F").replacing("?", with: "%3F").replacing("#", with: "%23")
    }

    /// Masks the secrets. A secret that contains slashes is replaced by the same number of segments.
    private func maskedAsWritten(_ place: String) -> String {
        let masked = mask.masked(url: place)
        func slashes(_ text: String) -> Int { text.utf8.count { $0 == UInt8(ascii: "/") } }
        let lost = slashes(place) - slashes(masked)
        guard lost > 0, let mark = masked.firstRange(of: ObservedRequest.secretMark) else { return masked }
        return masked.replacingCharacters(
            in: mark, with: Array(repeating: ObservedRequest.secretMark, count: lost + 1).joined(separator: "/"))
    }
}

/// The traffic of a running command. The thread that reads the access log adds its lines.
final class RunObserver: Sendable {
    private let observer = Guarded(TrafficObserver())

    func add(line: [UInt8]) { observer.withLock { _ = $0.add(line: line) } }

    var traffic: ObservedTraffic { observer.withLock { $0.traffic } }
}
