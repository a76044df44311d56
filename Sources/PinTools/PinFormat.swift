import LarderSettings
import ServerTrust
import TextCoding

/// The pin formats of other programs; each has its own file.
package enum PinFormat: String, CaseIterable, Sendable {
    case androidNSC = "android-nsc"
    case trustKit = "trustkit"
    case okHTTP = "okhttp"
    case curl, hpkp, json

    /// - Parameters:
    ///   - notes: receives one sentence for each host that the format can express only differently or not at all.
    ///   - now: the current time. It determines which pins are enforced, and when a lifetime begins.
    package func written(_ hosts: [PinnedHost], at now: POSIXTime, notes: inout [String]) -> String {
        let standing = hosts.map { $0.standing(at: now) }
        notes += standing.filter(\.pinsCertificates).map {
            "\($0.title) pins certificates, but this format has only keys: the file pins the keys of these certificates"
        }
        // JSON can express all data.
        let sayable = self == .json ? standing : PinnedHost.joined(standing).compactMap { said($0, at: now, notes: &notes) }
        return switch self {
        case .androidNSC: AndroidPins.written(sayable)
        case .trustKit: TrustKitPins.written(sayable, notes: &notes)
        case .okHTTP: OkHTTPPins.written(sayable)
        case .curl: CurlPins.written(sayable)
        case .hpkp: HPKPPins.written(sayable, at: now)
        case .json: JSONPins.written(sayable)
        }
    }

    /// - Parameters:
    ///   - host: for formats without host names.
    ///   - notes: data that was not imported.
    package func read(_ text: String, host: String?, notes: inout [String]) throws(PinFormatError) -> [PinnedHost] {
        if host != nil, self != .hpkp { throw PinFormatError("files in this format name their hosts: omit --host") }
        let hosts =
            switch self {
            case .androidNSC: try AndroidPins.read(text, notes: &notes)
            case .trustKit: try TrustKitPins.read(text, notes: &notes)
            case .okHTTP: try OkHTTPPins.read(text)
            case .curl: try CurlPins.read(text)
            case .hpkp: try HPKPPins.read(text, host: host, notes: &notes)
            case .json: try JSONPins.read(text)
            }
        if hosts.isEmpty { throw PinFormatError("the file contains no pins") }
        return try PinnedHost.gathered(hosts, addsUp: self == .okHTTP)
    }

    private var saysPorts: Bool { self == .curl }
    private var saysReportOnly: Bool { self == .trustKit || self == .hpkp }
    /// Whether the pins of this format can expire. Expired pins are not enforced.
    private var saysLapses: Bool { ![.okHTTP, .curl].contains(self) }

    /// The host without the properties that the format cannot express; a note lists these.
    /// - Returns: `nil` if the format cannot express it.
    private func said(_ host: PinnedHost, at now: POSIXTime, notes: inout [String]) -> PinnedHost? {
        var said = host
        if host.onExpiry == .reports, host.isExpired(at: now), [.okHTTP, .curl, .hpkp].contains(self) {
            said.isReportOnly = true
            said.expires = nil
        }
        if let reason = unsayable(said) {
            notes.append("\(host.title) is left out: the format has no \(reason)")
            return nil
        }
        if let wider = widening(host) { notes.append("in this format, the pins of \(host.title) also apply to \(wider)") }
        if let day = host.enforcedFrom {
            notes.append("\(host.title) is written as report-only, because the format has no `enforce_from` (\(day))")
        }
        if said.expires != nil, !saysLapses || host.onExpiry == .fails {
            let reason =
                saysLapses ? "because pins in this format have no effect after their expiry" : "because the format has no expiry"
            notes.append("\(host.title) is written without its expiry, \(reason)")
            said.expires = nil
        }
        return said
    }

    /// A property that the format cannot express.
    private func unsayable(_ host: PinnedHost) -> String? {
        if host.port != nil, !saysPorts { return "ports" }
        if host.isReportOnly, !saysReportOnly { return "report-only pins" }
        return host.breadth != .itself && self == .curl ? "patterns" : nil
    }

    private func widening(_ host: PinnedHost) -> String? {
        switch (self, host.breadth) {
        case (_, .itself), (_, .itselfAndBelow), (.okHTTP, .oneLabelBelow): nil
        case (_, .below): host.name
        case (_, .oneLabelBelow): "\(host.name) and to names of any depth below it"
        }
    }
}

/// Why pins cannot be read.
package struct PinFormatError: Error, Equatable {
    package let reason: String

    package init(_ reason: String) { self.reason = reason }
}

extension SHA256Digest {
    /// Parses a text with the format's prefix before the base64.
    /// - Parameter owner: the host of the pin, for the error.
    init(pin text: String, behind prefix: String, of owner: String) throws(PinFormatError) {
        guard text.hasPrefix(prefix) else { throw PinFormatError("a pin of \(owner) does not start with \(prefix)") }
        try self.init(pin: text.dropFirst(prefix.count))
    }

    /// Parses the base64 that all formats have after their prefix.
    init(pin base64: some StringProtocol) throws(PinFormatError) {
        guard let pin = try? Pin("sha256/" + base64) else {
            throw PinFormatError("`\(printable(String(base64)))` is not the base64 of a SHA-256 digest")
        }
        self = pin.publicKeyDigest
    }
}
