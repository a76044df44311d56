import HTTPMessage
import ServerTrust

/// The certificate chain of a server that was verified for a request, as a member of the request's log line. `larder pins learn
/// --from-log` proposes pins from it.
///
///     ,"tls":{"host":"api.example:443","chain":[{"key":"sha256/…","until":"2027-01-31T12:00:00Z","subject":"CN=api.example"},…]}
///
/// The server's certificate is first, the root is last.
package struct JudgedChain: Sendable {
    /// The maximum number of bytes of each text.
    enum Limit {
        static let host = 255
        static let subject = 128
        /// The maximum number of bytes of the whole member. Hosts are escaped like other texts from peers; in subjects only quotes and
        /// backslashes can need escaping.
        static let member = 64 + 6 * host + TrustVerdict.chainLimit * (128 + 2 * subject)
    }

    /// - Parameters:
    ///   - host: in lower case, an address without brackets.
    ///   - chain: not empty.
    package static func member(host: [UInt8], port: UInt16, chain: [Certificate]) -> [UInt8] {
        var member: [UInt8] = []
        member.append(addingCapacity: Limit.member) { write(host: host, port, chain, into: &$0) }
        return member
    }

    private static func write(
        host: [UInt8], _ port: UInt16, _ chain: [Certificate], into output: inout OutputSpan<UInt8>
    ) {
        let isBracketed = host.contains(ASCII.colon)
        let host = host.prefix(Limit.host) + Array(isBracketed ? "]:".utf8 : ":".utf8) + Array("\(port)".utf8)
        let authority = (isBracketed ? [UInt8(ascii: "[")] : []) + host
        output.append(member: ",\"tls\":{\"host\":", authority.span)
        output.append(",\"chain\":[")
        for (index, certificate) in chain.prefix(TrustVerdict.chainLimit).enumerated() {
            let key = Array("\(certificate.publicKeyDigest)".utf8)
            let until = Array((certificate.notAfter?.rfc3339 ?? "").utf8)
            let subject = Array(certificate.subject.utf8.prefix(Limit.subject))
            output.append(member: index == 0 ? "{\"key\":" : ",{\"key\":", key.span)
            output.append(member: ",\"until\":", until.span)
            output.append(member: ",\"subject\":", subject.span)
            output.append(UInt8(ascii: "}"))
        }
        output.append("]}")
    }
}
