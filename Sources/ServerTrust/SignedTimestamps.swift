internal import CLarderOpenSSL

/// Signed certificate timestamps (RFC 6962 §3). They are only counted, because verifying them needs the keys of the logs.
enum SignedTimestamps {
    static func count(in certificate: Certificate, and sent: [UInt8]?) -> Int {
        count(in: certificate) + (sent.map(count(in:)) ?? 0)
    }

    private static func count(in certificate: Certificate) -> Int {
        guard let list = X509_get_ext_d2i(certificate.pointer, NID_ct_precert_scts, nil, nil) else { return 0 }
        let timestamps = OpaquePointer(list)
        defer { SCT_LIST_free(timestamps) }
        return Int(max(0, copenssl_scts_count(timestamps)))
    }

    private static func count(in sent: [UInt8]) -> Int {
        sent.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            guard let timestamps = o2i_SCT_LIST(nil, &next, bytes.count) else { return 0 }
            defer { SCT_LIST_free(timestamps) }
            return Int(max(0, copenssl_scts_count(timestamps)))
        }
    }
}
