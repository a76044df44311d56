import HTTPMessage
import ServerTrust

/// What recordings had to do with a request, as members of its line.
///
///     ,"recording":"build.larder","body_digest":"sha256:…"    ,"recording":"new"    ,"nearest":"GET http://api.test:80/jobs: query parameter page"
package enum RecordingMember {
    /// Bytes that are kept of each.
    enum Limit {
        static let layer = 64
        static let nearest = 512
        static let digest = 7 + 2 * SHA256Digest.count
        /// Escaping makes six bytes of one.
        static let all = 64 + 6 * (layer + nearest + digest)
    }

    /// - Parameters:
    ///   - layer: that was the answer, or `new` where the exchange became a recording; empty for neither.
    ///   - digest: of the whole content as it stands in the recording; `nil` where it has none.
    ///   - nearest: what came near to it where none was the answer; empty where that is not known.
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
