import HTTPCaching
import HTTPMessage
import ProxyCore
import ServerTrust
import UpstreamTransport

/// Trust policies in the form that exchanges need.
extension ProxyServer {
    static func activeTrust(
        _ trust: TrustPolicySet?
    ) -> @Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> ActiveTrust {
        { host, port, now in
            guard let policy = trust?.policy(host: host, port: port) else { return .nobody }
            let now = POSIXTime(now)
            return ActiveTrust(
                mark: policy.mark(at: now),
                until: policy.nextChange(after: now).map { Timestamp(seconds: $0.seconds) } ?? ActiveTrust.nobody.until)
        }
    }

    static func judgeChain(_ trust: TrustPolicySet?) -> ExchangeContext.JudgeChain? {
        guard let trust else { return nil }
        return { chain, host, port, now in
            guard let evidence = ServerEvidence(record: chain.octets) else { return .unjudged }
            do throws(TrustFailure) {
                _ = try trust.evaluate(evidence, host: host, port: port, at: POSIXTime(now))
                return .accepted
            } catch {
                return .refused(TrustRefusal(error, port: port))
            }
        }
    }

    static func plaintextRule(_ trust: TrustPolicySet) -> ExchangeContext.PlaintextLookUp? {
        guard trust.hasPins else { return nil }
        return { host, port, now in
            switch trust.plaintext(toHost: host, port: port, at: POSIXTime(now)) {
            case .forbidden(let policy):
                .refused(
                    TrustRefusal(
                        plaintextTo: host, source: policy.source,
                        expected: policy.pins?.expectedDigests.map(\.description) ?? []))
            case .allowed(let until):
                .allowed(until: until.map { Timestamp(seconds: $0.seconds) } ?? Timestamp(milliseconds: .max))
            }
        }
    }

    static func denial(_ transport: TransportConfiguration) -> ExchangeContext.DenialLookUp {
        { scheme, host, port, byTunnel in
            let origin = Origin(scheme: scheme == .https ? .https : .http, host: host, port: port)
            return transport.denial(of: origin, byTunnel: byTunnel).map { FaultMapping.fault($0) }
        }
    }

    static func trustSummary(
        _ trust: TrustPolicySet?
    ) -> @Sendable (_ host: String, _ port: UInt16, _ now: Timestamp) -> TrustSummary? {
        { host, port, now in
            trust?.policy(host: host, port: port).map { TrustSummary($0.active(at: POSIXTime(now)), at: POSIXTime(now)) }
        }
    }
}

extension TrustSummary {
    fileprivate init(_ policy: TrustPolicy, at now: POSIXTime) {
        let anchorCount: Int? = if case .given(let anchors) = policy.anchors { anchors.count } else { nil }
        let pinState = policy.pins.map { pins -> PinState in
            if pins.isExpired(at: now) { return .expired }
            return pins.isEnforced(at: now) ? .enforced : .reportedOnly
        }
        self.init(
            place: policy.source, anchorCount: anchorCount, pins: policy.pins?.expectedDigests.map(\.description) ?? [],
            pinState: pinState, isWeakened: policy.isWeakened)
    }
}
