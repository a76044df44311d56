internal import CLarderOpenSSL

/// How the revocation of certificates is checked.
public struct Revocation: Sendable {
    /// How strictly a source of revocation data is checked.
    public enum Check: UInt8, Sendable {
        /// The source is not checked.
        case off
        /// A revoked certificate is rejected; a certificate with an unknown status is accepted.
        case soft
        /// A certificate that is not known to be good is rejected.
        case hard
    }

    /// The revocation lists. Each certificate is checked with the lists of its issuer. Expired lists do no harm.
    public let lists: RevocationLists?
    /// How strictly the lists are checked.
    public let listCheck: Check
    /// How strictly the stapled response is checked.
    public let stapleCheck: Check

    /// Revocation is not checked.
    public static let off = Revocation(unchecked: nil, listCheck: .off, stapleCheck: .off)

    /// - Parameters:
    ///   - lists: required if `listCheck` is not `off`.
    ///   - listCheck: checks `lists` for each certificate below the anchor (RFC 5280 §6.3).
    ///   - stapleCheck: checks the OCSP response that the server sent in the handshake (RFC 6960, RFC 6066 §8).
    public init(lists: RevocationLists? = nil, listCheck: Check = .off, stapleCheck: Check = .off) throws(TrustPolicyFault) {
        if listCheck != .off, lists == nil { throw .revocationWithoutLists }
        self.init(unchecked: lists, listCheck: listCheck, stapleCheck: stapleCheck)
    }

    private init(unchecked lists: RevocationLists?, listCheck: Check, stapleCheck: Check) {
        self.lists = lists
        self.listCheck = listCheck
        self.stapleCheck = stapleCheck
    }
}

/// Certificate revocation lists (RFC 5280 §5), parsed once.
public struct RevocationLists: Sendable {
    let stack: OwnedObject
    let digest: SHA256Digest
    private let lists: [OwnedObject]

    /// - Parameter files: each is one list in DER, or any number of lists in PEM.
    public init(_ files: [[UInt8]]) throws(TrustPolicyFault) {
        guard let pointer = copenssl_crls_new() else { throw .unreadableRevocationList }
        stack = OwnedObject(pointer) { copenssl_crls_free($0) }
        var octets: [UInt8] = []
        var read: [OwnedObject] = []
        for der in try Self.lists(in: files) {
            guard let list = DER.read(der, by: { d2i_X509_CRL(nil, &$0, $1) }, release: { X509_CRL_free($0) }),
                X509_CRL_up_ref(list.pointer) == 1
            else { throw .unreadableRevocationList }
            guard copenssl_crls_push(pointer, list.pointer) > 0 else {
                X509_CRL_free(list.pointer)
                throw .unreadableRevocationList
            }
            octets += SHA256Digest(of: der).octets
            read.append(list)
        }
        if octets.isEmpty { throw .unreadableRevocationList }
        digest = SHA256Digest(of: octets)
        lists = read
    }

    /// The earliest expiry among the revocation lists of these certificates' issuers. Lists that expired before `now` are ignored.
    func nextEnd(for chain: [Certificate], after now: POSIXTime) -> POSIXTime? {
        lists.compactMap { list -> POSIXTime? in
            let issuer = X509_CRL_get_issuer(list.pointer)
            guard chain.contains(where: { X509_NAME_cmp(X509_get_issuer_name($0.pointer), issuer) == 0 }) else { return nil }
            // OpenSSL treats the second of nextUpdate itself as too late.
            return Certificate.time(X509_CRL_get0_nextUpdate(list.pointer)).map { POSIXTime(seconds: $0.seconds - 1) }
        }.filter { $0 >= now }.min()
    }

    private static func lists(in files: [[UInt8]]) throws(TrustPolicyFault) -> [[UInt8]] {
        var lists: [[UInt8]] = []
        for file in files {
            guard PEM.isPEM(file) else {
                lists.append(file)
                continue
            }
            guard let parts = PEM.parts(of: file) else { throw .unreadableRevocationList }
            let found = parts.filter { $0.label == "X509 CRL" }
            if found.isEmpty { throw .unreadableRevocationList }
            lists += found.map(\.der)
        }
        return lists
    }
}
