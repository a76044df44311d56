package import HTTPMessage

extension TrustPolicy {
    /// Evaluates the evidence of a server. Runs on any thread; reads no clock and no file, and does no I/O.
    ///
    /// Faults are reported in this order: malformed evidence, the TLS version, expired pins, the chain (RFC 5280 §6), dates,
    /// keys and signatures, the host (RFC 9525), the stapled response, the pins.
    /// - Parameters:
    ///   - evidence: the data that the server sent.
    ///   - host: a name in A-labels without a final dot, or an IP address, with or without brackets.
    ///   - now: the time to evaluate for.
    public func evaluate(_ evidence: ServerEvidence, host: String, at now: POSIXTime) throws(TrustFailure) -> TrustVerdict {
        try ErrorQueue.unchanged { () throws(TrustFailure) in
            let evaluation = Evaluation(policy: active(at: now), evidence: evidence, host: host, now: now)
            do throws(ChainFault) {
                return try evaluation.verdict()
            } catch {
                throw evaluation.failure(error)
            }
        }
    }

    package func evaluate(_ evidence: ServerEvidence, host: String, at now: Timestamp) throws(TrustFailure) -> TrustVerdict {
        try evaluate(evidence, host: host, at: POSIXTime(now))
    }
}

/// One evaluation and its steps.
struct Evaluation {
    let policy: TrustPolicy
    let evidence: ServerEvidence
    let host: String
    let now: POSIXTime

    func verdict() throws(ChainFault) -> TrustVerdict {
        guard !evidence.certificates.isEmpty else { throw ChainFault(reason: .malformed) }
        if let version = evidence.tlsVersion, version < policy.minimumTLSVersion { throw ChainFault(reason: .weakProtocol) }
        if let pins = policy.pins, pins.isExpired(at: now), pins.refusesOthers(at: now) { throw ChainFault(reason: .emptyPins) }
        var chain = try firstChain()
        var allowed = chain.allowed.union(try checkDates(of: chain))
        try checkStrength(of: chain)
        try checkHost(chain)
        let staple = try staple(for: chain)
        if staple.finding == .unknown { allowed.insert(.revocationUnknown) }
        let pinned = try pinnedChain(chain)
        if let other = pinned.chain {
            allowed.formUnion(try checkDates(of: other))
            try checkStrength(of: other)
            chain = other
        }
        return try verdict(on: chain, allowed: allowed, staple: staple, pinned: pinned)
    }

    private func verdict(
        on chain: VerifiedChain, allowed: Set<TrustFailure.Reason>, staple: Staple, pinned: Pinned
    ) throws(ChainFault) -> TrustVerdict {
        // This cannot fail: the dates were read before.
        guard let expires = chain.certificates.compactMap(\.notAfter).min() else { throw ChainFault(reason: .malformed) }
        let timestamps =
            policy.auditsSignedTimestamps
            ? SignedTimestamps.count(in: chain.certificates[0], and: evidence.signedTimestamps) : nil
        let lists =
            policy.revocation.listCheck == .off ? nil : policy.revocation.lists?.nextEnd(for: chain.certificates, after: now)
        return TrustVerdict(
            chain: chain.certificates, matchedPin: pinned.pin, expires: expires,
            daysToExpiry: Self.wholeDays(expires.seconds - now.seconds), allowed: allowed, reported: pinned.reported,
            pinsAreOnlyReported: policy.pins?.areOnlyReported(at: now) ?? false,
            staple: staple.finding, revocationKnownUntil: [lists, staple.end].compactMap { $0 }.min(),
            signedTimestampCount: timestamps, fingerprint: policy.fingerprint)
    }

    private static func wholeDays(_ seconds: Int64) -> Int {
        let day: Int64 = 86_400
        return Int(seconds >= 0 ? seconds / day : (seconds - day + 1) / day)
    }

    // MARK: The chain

    /// Whether only the pins are trusted: the chain must end at one of them.
    private var pinsAreAnchors: Bool {
        if case .pins = policy.anchors { return true }
        return policy.allowsUntrustedRoot && policy.pins?.mode == .certificate
    }

    private func firstChain() throws(ChainFault) -> VerifiedChain {
        guard case .given(let anchors) = policy.anchors, !pinsAreAnchors else { return try chainToPins() }
        return try ChainVerification(
            anchors: anchors, allowsUntrustedRoot: policy.allowsUntrustedRoot, revocation: policy.revocation
        ).verify(evidence.certificates, at: now)
    }

    private func chainToPins() throws(ChainFault) -> VerifiedChain {
        guard let anchors = policy.pinAnchors else { throw ChainFault(reason: .malformed) }
        do throws(ChainFault) {
            return try ChainVerification(anchors: anchors, allowsUntrustedRoot: false, revocation: policy.revocation)
                .verify(evidence.certificates, at: now)
        } catch {
            guard error.reason == .untrustedRoot || error.reason == .incompleteChain else { throw error }
            throw ChainFault(reason: .pinMismatch, depth: 0, certificate: evidence.certificates[0], chain: error.chain)
        }
    }

    // MARK: Checks that OpenSSL does not make, or makes differently

    /// - Returns: faults that the policy allowed.
    private func checkDates(of chain: VerifiedChain) throws(ChainFault) -> Set<TrustFailure.Reason> {
        var allowed: Set<TrustFailure.Reason> = []
        for (depth, certificate) in chain.certificates.enumerated() {
            func fault(_ reason: TrustFailure.Reason) -> ChainFault {
                ChainFault(reason: reason, depth: depth, certificate: certificate, chain: chain.certificates)
            }
            guard let notBefore = certificate.notBefore, let notAfter = certificate.notAfter else { throw fault(.malformed) }
            if now < notBefore { throw fault(.notYetValid) }
            if now > notAfter {
                guard policy.allowsExpired else { throw fault(.expired) }
                allowed.insert(.expired)
            }
        }
        return allowed
    }

    private func checkStrength(of chain: VerifiedChain) throws(ChainFault) {
        let last = chain.certificates.count - 1
        for (depth, certificate) in chain.certificates.enumerated() {
            func fault(_ reason: TrustFailure.Reason) -> ChainFault {
                ChainFault(reason: reason, depth: depth, certificate: certificate, chain: chain.certificates)
            }
            if certificate.hasUnreadableExtensions { throw fault(.malformed) }
            let isAnchor = depth == last && chain.endsAtAnchor
            if depth > 0, !isAnchor, !certificate.saysItIsAuthority { throw fault(.wrongUsage) }
            guard let hasStrongKey = certificate.hasStrongKey(policy.minimumKeySizes) else { throw fault(.malformed) }
            if !hasStrongKey { throw fault(.weakKey) }
            // The signature of the chain's last certificate is not used. If this certificate is trusted, it is because it is an anchor, or
            // because its key is pinned.
            if depth < last, !certificate.hasStrongSignature(refused: policy.refusedDigests) { throw fault(.weakSignature) }
        }
    }

    private func checkHost(_ chain: VerifiedChain) throws(ChainFault) {
        guard policy.validatesHost else { return }
        let certificate = chain.certificates[0]
        func fault(_ reason: TrustFailure.Reason) -> ChainFault {
            ChainFault(reason: reason, depth: 0, certificate: certificate, chain: chain.certificates)
        }
        // Every error of `SubjectAlternativeNames` means a malformed certificate.
        guard let names = try? SubjectAlternativeNames(of: certificate) else { throw fault(.malformed) }
        guard let reference = ReferenceIdentity(host), reference.matches(names) else { throw fault(.hostMismatch) }
    }

    private struct Staple {
        var finding: TrustVerdict.Staple
        /// The last second for which the response is valid.
        var end: POSIXTime?
    }

    private func staple(for chain: VerifiedChain) throws(ChainFault) -> Staple {
        if policy.revocation.stapleCheck == .off { return Staple(finding: .unasked) }
        let certificate = chain.certificates[0]
        func fault(_ reason: TrustFailure.Reason) -> ChainFault {
            ChainFault(reason: reason, depth: 0, certificate: certificate, chain: chain.certificates)
        }
        switch stapleFinding(for: chain) {
        case .good(let end): return Staple(finding: .good, end: end)
        case .revoked: throw fault(.revoked)
        case .unknown:
            if policy.revocation.stapleCheck == .hard || certificate.requiresStaple { throw fault(.revocationUnknown) }
            return Staple(finding: .unknown)
        }
    }

    private func stapleFinding(for chain: VerifiedChain) -> StapledResponse.Finding {
        guard chain.certificates.count > 1, let octets = evidence.stapledResponse, let response = StapledResponse(octets) else {
            return .unknown
        }
        return response.finding(of: chain.certificates[0], issuer: chain.certificates[1], at: now)
    }

    // MARK: Pins

    private struct Pinned {
        var pin: Pin?
        /// The chain that contains the pin; `nil` if it is the chain that was verified first.
        var chain: VerifiedChain?
        var reported: TrustFailure?
    }

    /// Looks for a pin in the verified chain, never in certificates that were merely sent.
    private func pinnedChain(_ chain: VerifiedChain) throws(ChainFault) -> Pinned {
        guard let pins = policy.pins else { return Pinned() }
        if let pin = pins.match(in: chain.certificates) { return Pinned(pin: pin) }
        // A pinned certificate may be in another chain of the same server, as with cross-signed roots. If no such chain can be
        // verified, for whatever reason, no pin matches.
        if pins.mode == .certificate, !pinsAreAnchors, let other = try? chainToPins(),
            let pin = pins.match(in: other.certificates)
        {
            return Pinned(pin: pin, chain: other)
        }
        let fault = ChainFault(
            reason: .pinMismatch, depth: 0, certificate: chain.certificates[0], chain: chain.certificates)
        if pins.refusesOthers(at: now) { throw fault }
        return Pinned(reported: failure(fault))
    }

    // MARK: Reporting

    func failure(_ fault: ChainFault) -> TrustFailure {
        let chain = fault.chain.isEmpty ? evidence.certificates : fault.chain
        let expected = policy.pins?.expectedDigests.prefix(TrustFailure.expectedDigestsLimit) ?? []
        return TrustFailure(
            reason: fault.reason, host: host, depth: fault.depth, certificate: fault.certificate?.facts,
            expectedDigests: Array(expected), seenDigests: chain.map { policy.pins?.digest(of: $0) ?? $0.publicKeyDigest },
            chain: chain, serverKeyDigest: evidence.certificates.first?.publicKeyDigest, policySource: policy.source)
    }
}
