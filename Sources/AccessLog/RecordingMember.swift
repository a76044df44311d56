import HTTPMessage
import ServerTrust

/// How recordings were involved in a request, as members of the request's log line.
///
///     ,"recording":"build.larder","body_digest":"sha256:…"
///     ,"recording":"new"
///     ,"nearest":"GET http://api.test:80/jobs: query parameter page"
package enum RecordingMember {
    /// The maximum number of bytes of each text.
    enum Limit {
        static let layer = 64
        static let nearest = 512
        static let digest = 7 + 2 * SHA256Digest.count
        /// The limit on all members: escaping turns one byte of a text into up to six bytes.
        static let all = 64 + 6 * (layer + nearest + digest)
    }

    /// - Parameters:
    ///   - layer: the recording that provided the response, or `new` if the exchange was recorded; empty for neither.
    ///   - digest: the digest of the whole content in the recording; `nil` if there is none.
    ///   - nearest: the most similar recording if none matched; empty if unknown.
    package static func members(layer: [UInt8] = [], digest: SHA256Digest? = nil, nearest: [UInt8] = []) -> [UInt8] {
        let digest = digest.map { Array(("sha256:" + Hexadecimal.encode($0.octets)).utf8) } ?? []
        var members: [UInt8] = []
        members.append(addingCapacity: Limit.all) { output in
            output.append(member: ",\"recording\":", layer.span.extracting(first: Limit.layer))
            output.append(member: ",\"body_digest\":", digest.span.extracting(first: Limit.digest))
            output.append(member: ",\"nearest\":", nearest.span.extracting(first: Limit.nearest))
        }
        return members
    }
}
