import EventLoop
import HTTPMessage
import ServerTrust

/// Receives the result of a server's verification, once, and never from within `Transport.judge`.
package protocol JudgementDelegate: AnyObject {
    func judgement(_ judgement: Judgement, didEndWith result: Result<VettedServer, TransportError>)
}

/// The verification of a server for a tunnel: by a cached verdict, or by a probe. Confined to its loop.
package final class Judgement: BatchHandler {
    /// Whether a cached verdict was used.
    package private(set) var isKept = false
    /// The cache key of the verdict.
    private(set) var key: TrustVerdictCache.Key?
    /// The host that the server is verified as.
    package let host: String
    /// The verified chain, if a handshake was made for this verification and the chain ends at an anchor; otherwise empty.
    package internal(set) var chain: [Certificate] = []
    private let loop: EventLoop
    private var delegate: (any JudgementDelegate)?
    private var probe: Probe?
    private var decided: Result<VettedServer, TransportError>?

    init(_ loop: EventLoop, host: String, delegate: any JudgementDelegate) {
        self.loop = loop
        self.host = host
        self.delegate = delegate
    }

    /// Cancels the verification. The delegate is not called after this.
    package func cancel() {
        delegate = nil
        let probe = probe
        self.probe = nil
        probe?.remove(self)
    }

    package func batchEnded() {
        if let decided { tell(decided) }
    }

    func wait(for probe: Probe) {
        key = probe.key
        self.probe = probe
        probe.add(self)
    }

    func decide(_ result: Result<VettedServer, TransportError>, keptAs key: TrustVerdictCache.Key? = nil) {
        decided = result
        self.key = key
        isKept = key != nil
        loop.atEndOfBatch(self)
    }

    func tell(_ result: Result<VettedServer, TransportError>) {
        probe = nil
        let delegate = delegate
        self.delegate = nil
        delegate?.judgement(self, didEndWith: result)
    }
}

extension Transport {
    /// Begins to verify a server with the trust policy for this host and port.
    /// - Parameters:
    ///   - host: a name, which is also the server name in the handshake, or an IP address.
    ///   - address: the server's address; `nil` for the addresses of the host.
    ///   - via: the value of Via for an upstream proxy.
    package func judge(
        host: String, port: UInt16, at address: IPAddress? = nil, via: String, delegate: any JudgementDelegate
    ) -> Judgement {
        let judgement = Judgement(loop, host: host, delegate: delegate)
        do throws(TransportError) {
            guard configuration.gate.isOpen(to: host) else { throw .egressClosed }
            let policy = try policy(host: host, port: port)
            let now = wallClock
            let key = TrustVerdictCache.Key(
                fingerprint: policy.active(at: now).fingerprint, host: host, port: port, address: address)
            if policy.permitsCachedVerdicts(at: now), let server = configuration.connect.kept.server(for: key, at: loop.now, now)
            {
                judgement.decide(.success(server), keptAs: key)
            } else if let probe = probes[key] {
                judgement.wait(for: probe)
            } else {
                let probe = Probe(self, key, by: policy)
                judgement.wait(for: probe)
                probe.begin(via: via)
            }
        } catch {
            judgement.decide(.failure(error))
        }
        return judgement
    }

    /// The trust policy for this host and port.
    func policy(host: String, port: UInt16) throws(TransportError) -> TrustPolicy {
        guard let policies = configuration.trust else { throw .noTrustAnchors }
        do throws(TrustFailure) {
            return try policies.requiredPolicy(host: host, port: port)
        } catch { throw configuration.connect.deniesHost(host, port: port) ? .hostDenied : .untrusted(error) }
    }

    /// Whether pins forbid plain text to a host.
    func forbidsPlaintext(to host: String, port: UInt16) -> Bool {
        guard let policies = configuration.trust, policies.hasPins else { return false }
        guard case .forbidden = policies.plaintext(toHost: host, port: port, at: wallClock) else { return false }
        return true
    }

    var wallClock: POSIXTime { POSIXTime(Timestamp(milliseconds: loop.wallClockMilliseconds)) }
}
