import ServerTrust

extension FuzzTarget {
    /// Bytes are certificates, each behind its length in two of them, in the order in which a server shows them; the last one is the
    /// only anchor. What is read is written as the same; each judgement is made twice with the same outcome, and a chain
    /// whose anchor has expired is never believed.
    package static let certificates = FuzzTarget("Certificates") { octets in
        var chain: [[UInt8]] = []
        var rest = octets[...]
        while rest.count > 2, chain.count < 4 {
            let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
            chain.append(Array(rest.dropFirst(2).prefix(count)))
            rest = rest.dropFirst(2 + count)
        }
        let certificates = chain.compactMap { Certificate(der: $0) }
        for (certificate, der) in zip(chain.map { Certificate(der: $0) }, chain) {
            if let certificate, certificate.der != der { return "a certificate is written as another" }
        }
        guard certificates.count == chain.count, let last = certificates.last else { return nil }
        let anchors = try? TrustAnchors([last])
        guard let anchors, let policy = try? TrustPolicy(anchors: .given(anchors)) else { return nil }
        let evidence = ServerEvidence(chain: chain, stapledResponse: octets.last.map { [$0] })
        let moments = [1_780_272_000, (last.notAfter?.seconds ?? 0) + 1].map(POSIXTime.init(seconds:))
        for now in moments {
            let first = outcome(policy, evidence, now)
            if first != outcome(policy, evidence, now) { return "judged twice, another outcome" }
            if first == nil, now == moments[1] { return "an anchor that has expired is believed" }
        }
        return nil
    }

    /// - Returns: `nil` where the server is believed.
    private static func outcome(
        _ policy: TrustPolicy, _ evidence: ServerEvidence, _ now: POSIXTime
    ) -> TrustFailure.Reason? {
        do throws(TrustFailure) {
            _ = try policy.evaluate(evidence, host: "good.example.com", at: now)
            return nil
        } catch {
            return error.reason
        }
    }
}
