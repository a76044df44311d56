import ProxyAdmin
import ServerTrust

/// How other programs write pins, each format in a file of its own.
enum PinFormat: String, CaseIterable, Sendable {
    case androidNSC = "android-nsc"
    case trustKit = "trustkit"
    case okHTTP = "okhttp"
    case curl, hpkp, json

    /// - Parameters:
    ///   - notes: what the format says otherwise or not at all, a sentence for each host that is concerned.
    ///   - now: from when a lifetime counts.
    func written(_ hosts: [PinnedHost], at now: POSIXTime, notes: inout [String]) -> String {
        let sayable = PinnedHost.joined(hosts).filter { host in
            let reason = unsayable(host)
            if let reason { notes.append("\(host.title) is left out: the format knows no \(reason)") }
            return reason == nil
        }
        notes += sayable.compactMap(widening)
        return switch self {
        case .androidNSC: AndroidPins.written(sayable, notes: &notes)
        case .trustKit: TrustKitPins.written(sayable, notes: &notes)
        case .okHTTP: OkHTTPPins.written(sayable)
        case .curl: CurlPins.written(sayable)
        case .hpkp: HPKPPins.written(sayable, at: now)
        case .json: JSONPins.written(hosts)
        }
    }

    /// - Parameter host: for what names none of its own.
    func read(_ text: String, host: String?) throws(PinFormatFault) -> [PinnedHost] {
        let hosts =
            switch self {
            case .androidNSC: try AndroidPins.read(text)
            case .trustKit: try TrustKitPins.read(text)
            case .okHTTP: try OkHTTPPins.read(text)
            case .curl: try CurlPins.read(text)
            case .hpkp: try HPKPPins.read(text, host: host)
            case .json: try JSONPins.read(text)
            }
        if hosts.isEmpty { throw PinFormatFault("there are no pins in it") }
        for host in hosts {
            if HostScope(host: host.name) == nil { throw PinFormatFault("`\(printable(host.name))` is no host") }
            if host.live.isEmpty { throw PinFormatFault("\(host.title) has no pins") }
        }
        return hosts
    }

    private var saysPorts: Bool { self == .json || self == .curl }
    private var saysReportOnly: Bool { [.trustKit, .hpkp, .json].contains(self) }

    /// What the format has no word for.
    private func unsayable(_ host: PinnedHost) -> String? {
        if host.port != nil, !saysPorts { return "ports" }
        if host.isReportOnly, !saysReportOnly { return "pins that are only reported" }
        return host.breadth != .itself && self == .curl ? "patterns" : nil
    }

    private func widening(_ host: PinnedHost) -> String? {
        switch (self, host.breadth) {
        case (.json, _), (_, .itself), (_, .itselfAndBelow), (.okHTTP, .oneLabelBelow): nil
        case (_, .below): "\(host.title) is written for \(host.name) too"
        case (_, .oneLabelBelow): "\(host.title) is written for \(host.name) too, and for any depth"
        }
    }
}

/// Why pins cannot be read, in words.
struct PinFormatFault: Error, Equatable {
    let reason: String

    init(_ reason: String) { self.reason = reason }
}

extension SHA256Digest {
    /// From the base64 that every format has, after its own words.
    init(pin base64: some StringProtocol) throws(PinFormatFault) {
        guard let pin = try? Pin("sha256/" + base64) else {
            throw PinFormatFault("`\(printable(String(base64)))` is not the base64 of a SHA-256 digest")
        }
        self = pin.publicKeyDigest
    }
}
