internal import CLarderOpenSSL

/// A list of certificates that belong to other code.
struct CertificateStack: ~Copyable {
    let pointer: OpaquePointer

    /// - Returns: `nil` if memory is exhausted. The certificates must outlive the list.
    init?(_ certificates: some Sequence<Certificate>) {
        guard let pointer = copenssl_certificates_new() else { return nil }
        guard certificates.allSatisfy({ copenssl_certificates_push(pointer, $0.pointer) > 0 }) else {
            copenssl_certificates_free(pointer)
            return nil
        }
        self.pointer = pointer
    }

    deinit { copenssl_certificates_free(pointer) }
}

/// An `X509_STORE_CTX`: one verification, on one thread. The objects it was created from must outlive it.
struct VerificationContext: ~Copyable {
    private let pointer: OpaquePointer

    init?(anchors: TrustAnchors, leaf: Certificate, untrusted: borrowing CertificateStack) {
        guard let pointer = X509_STORE_CTX_new() else { return nil }
        guard X509_STORE_CTX_init(pointer, anchors.store.pointer, leaf.pointer, untrusted.pointer) == 1,
            X509_STORE_CTX_set_purpose(pointer, X509_PURPOSE_SSL_SERVER) == 1
        else {
            X509_STORE_CTX_free(pointer)
            return nil
        }
        self.pointer = pointer
    }

    deinit { X509_STORE_CTX_free(pointer) }

    func ask(about revocation: Revocation, at now: POSIXTime) {
        let parameters = X509_STORE_CTX_get0_param(pointer)
        X509_VERIFY_PARAM_set_time(parameters, time_t(now.seconds))
        X509_VERIFY_PARAM_set_depth(parameters, ChainVerification.intermediatesLimit)
        var flags = UInt(X509_V_FLAG_PARTIAL_CHAIN) | UInt(X509_V_FLAG_TRUSTED_FIRST)
        if revocation.listCheck != .off, let lists = revocation.lists {
            flags |= UInt(X509_V_FLAG_CRL_CHECK) | UInt(X509_V_FLAG_CRL_CHECK_ALL)
            X509_STORE_CTX_set0_crls(pointer, lists.stack.pointer)
        }
        X509_VERIFY_PARAM_set_flags(parameters, flags)
    }

    func verify(into findings: inout Findings) -> Bool {
        withUnsafeMutablePointer(to: &findings) { findings in
            guard X509_STORE_CTX_set_ex_data(pointer, findingsIndex, findings) == 1 else { return false }
            X509_STORE_CTX_set_verify_cb(pointer, note)
            return X509_verify_cert(pointer) == 1
        }
    }

    /// The chain, as far as it was built.
    var chain: [Certificate] {
        let stack = X509_STORE_CTX_get0_chain(pointer)
        return (0..<max(0, copenssl_certificates_count(stack))).compactMap {
            copenssl_certificates_at(stack, $0).flatMap(Certificate.init(sharing:))
        }
    }
}

/// The index that OpenSSL reserves for applications.
private let findingsIndex: Int32 = 0

/// Called by OpenSSL on the verifying thread, within `verify(into:)`.
private func note(isGood: Int32, context: OpaquePointer?) -> Int32 {
    if isGood == 1 { return 1 }
    guard let data = X509_STORE_CTX_get_ex_data(context, findingsIndex) else { return 0 }
    let goesOn = data.assumingMemoryBound(to: Findings.self).pointee.goesOn(
        after: X509_STORE_CTX_get_error(context), certificate: X509_STORE_CTX_get_current_cert(context),
        depth: Int(X509_STORE_CTX_get_error_depth(context)),
        chainCount: Int(copenssl_certificates_count(X509_STORE_CTX_get0_chain(context))))
    return goesOn ? 1 : 0
}
