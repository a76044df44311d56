import CommandSupport
import LarderSettings
import ServerTrust
import UpstreamTransport

/// Verifies servers as if they had no pins yet, and proposes pins for the servers that are trusted.
package struct PinLearning {
    package struct Refusal: Error {
        package let reason: String
        package var chain: [Certificate]

        package init(reason: String, chain: [Certificate] = []) {
            self.reason = reason
            self.chain = chain
        }
    }

    package let settings: LarderSettings
    package let trust: LoadedTrust
    package let choice: PinProposal.Choice
    let isPinsOnly: Bool
    package let isEnforced: Bool
    package let backup: [String]
    package let now: POSIXTime

    package init(
        settings: LarderSettings, trust: LoadedTrust, choice: PinProposal.Choice, isPinsOnly: Bool, isEnforced: Bool,
        backup: [String], now: POSIXTime
    ) {
        self.settings = settings
        self.trust = trust
        self.choice = choice
        self.isPinsOnly = isPinsOnly
        self.isEnforced = isEnforced
        self.backup = backup
        self.now = now
    }

    /// - Returns: the results in the order of the servers.
    package func learn(_ servers: [NamedServer]) throws -> [Result<PinProposal, Refusal>] {
        let entries = servers.compactMap { server in
            policy(for: server).map { TrustPolicySet.Entry(host: server.host, port: server.origin.port, policy: $0) }
        }
        let inspector = ServerInspector(settings, policies: try TrustPolicySet(entries, fallback: .deny))
        return try zip(servers, inspector.judge(servers)).map { server, judgement in
            Result { () throws(Refusal) in try proposal(server, judgement) }
        }
    }

    /// A policy without pins: the pins to be learned must not verify themselves.
    func policy(for server: NamedServer) -> TrustPolicy? {
        if let policy = trust.policies.policy(host: server.host, port: server.origin.port)?.withoutPins { return policy }
        if case .policy(let policy) = trust.policies.fallback, let plain = policy.withoutPins { return plain }
        // The settings deny hosts without an entry. The new entry for this host uses the system's CA certificates.
        guard let anchors = try? TrustFiles().systemAnchors() else { return nil }
        return try? TrustPolicy(anchors: .given(anchors))
    }

    func proposal(_ server: NamedServer, _ judgement: InspectionOutcome) throws(Refusal) -> PinProposal {
        switch judgement {
        case .believed(let verdict): return try proposal(server, chain: verdict.chain, isPinsOnly: false)
        case .unreachable(let error):
            throw Refusal(reason: "the server cannot be reached: \(error.words)")
        case .refused(let failure):
            let hasNoAnchor = failure.reason == .untrustedRoot || failure.reason == .incompleteChain
            guard hasNoAnchor, isPinsOnly else {
                let hint = hasNoAnchor ? "; --pins-only would trust this certificate and no other" : ""
                throw Refusal(
                    reason: "the server is not trusted (\(failure.reason.rawValue)), so Larder learns nothing from it\(hint)",
                    chain: failure.chain)
            }
            let proposal = try proposal(server, chain: failure.chain, isPinsOnly: true)
            try judge(proposal)
            return proposal
        }
    }

    private func proposal(_ server: NamedServer, chain: [Certificate], isPinsOnly: Bool) throws(Refusal) -> PinProposal {
        // Entries inherit nothing from each other, so the new entry must repeat the terms of the current one.
        let site = trust.site(host: server.host, port: server.origin.port)
        let proposal = PinProposal(
            server: server, chain: chain, choice: choice, isPinsOnly: isPinsOnly, isEnforced: isEnforced, backup: backup,
            day: CalendarDay(of: now), words: site.wordsWithoutPins)
        guard let pinned = proposal.pinned else {
            throw Refusal(reason: "the server's chain has no \(choice.rawValue) certificate", chain: chain)
        }
        if backup.contains("\(pinned.publicKeyDigest)") {
            throw Refusal(
                reason: "the server already uses the backup key; a backup must be a key that the server does not use yet",
                chain: chain)
        }
        return proposal
    }

    /// With the pin as trust anchor, everything else must still be valid: host, dates, keys, signatures.
    private func judge(_ proposal: PinProposal) throws(Refusal) {
        // OpenSSL does not accept every certificate as a trust anchor.
        guard let pinned = proposal.pinned, let pins = try? PinSet(.publicKey, [Pin(certificate: pinned)]),
            let policy = try? TrustPolicy(anchors: .pins, pins: pins)
        else { throw Refusal(reason: "the server has a certificate that cannot be a trust anchor", chain: proposal.chain) }
        do throws(TrustFailure) {
            _ = try policy.evaluate(ServerEvidence(certificates: proposal.chain), host: proposal.server.host, at: now)
        } catch {
            throw Refusal(
                reason: "the server is not trusted (\(error.reason.rawValue)), even if its own key is the trust anchor",
                chain: proposal.chain)
        }
    }
}

extension TrustPolicy {
    /// The same policy without pins; `nil` if pins replace the trust anchors.
    fileprivate var withoutPins: TrustPolicy? {
        guard case .given = anchors, !allowsUntrustedRoot else { return nil }
        return try? TrustPolicy(
            anchors: anchors, validatesHost: validatesHost, allowsExpired: allowsExpired, minimumTLSVersion: minimumTLSVersion,
            minimumKeySizes: minimumKeySizes, refusedDigests: refusedDigests, revocation: revocation, weakUntil: weakUntil)
    }
}
