extension TrustPolicy {
    /// Hashes every field in a fixed order, numbers in 64 bits, lists after their count, so that no two policies have the same
    /// encoding.
    static func fingerprint(of policy: TrustPolicy) -> SHA256Digest {
        var octets = Array("larder trust policy 1".utf8)
        func append(_ number: Int64) {
            for shift in stride(from: 56, through: 0, by: -8) { octets.append(UInt8(truncatingIfNeeded: number >> Int64(shift))) }
        }
        func append(_ flag: Bool) { append(flag ? 1 : 0) }
        func append(_ digest: SHA256Digest?) { octets += digest?.octets ?? [UInt8](repeating: 0, count: SHA256Digest.count) }

        switch policy.anchors {
        case .given(let anchors): append(anchors.digest)
        case .pins: append(nil as SHA256Digest?)
        }
        append(policy.validatesHost)
        append(policy.allowsUntrustedRoot)
        append(policy.allowsExpired)
        append(Int64(policy.minimumTLSVersion.rawValue))
        append(Int64(policy.minimumKeySizes.rsa))
        append(Int64(policy.minimumKeySizes.ellipticCurve))
        append(Int64(policy.refusedDigests.count))
        for digest in policy.refusedDigests.map(\.rawValue).sorted() { append(Int64(digest)) }
        append(policy.revocation.lists?.digest)
        append(Int64(policy.revocation.listCheck.rawValue))
        append(Int64(policy.revocation.stapleCheck.rawValue))
        append(policy.auditsSignedTimestamps)
        append(policy.weakUntil != nil)
        append(policy.weakUntil?.seconds ?? 0)
        append(Int64(policy.pins?.pins.count ?? 0))
        if let pins = policy.pins {
            append(pins.mode == .certificate)
            for digest in pins.expectedDigests.sorted() { append(digest) }
            switch pins.enforcement {
            case .enforced: append(0)
            case .reported: append(1)
            case .enforcedFrom(let start):
                append(2)
                append(start.seconds)
            }
            append(pins.expires == nil)
            append(pins.expires?.seconds ?? 0)
            append(pins.onExpiry == .fails)
        }
        return SHA256Digest(of: octets)
    }
}
