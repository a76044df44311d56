import HTTPMessage

/// What recordings had to do with a request, as members of its line.
///
///     ,"recording":"build.larder"    ,"recording":"new"    ,"nearest":"GET http://api.test:80/jobs: query parameter page"
enum RecordingMember {
    /// Octets that are kept of each.
    enum Limit {
        static let layer = 64
        static let nearest = 512
        /// Escaping makes six octets of one.
        static let all = 64 + 6 * (layer + nearest)
    }

    /// - Parameters:
    ///   - layer: that was the answer, or `new` where the exchange became a recording; empty for neither.
    ///   - nearest: what came near to it where none was the answer; empty where that is not known.
    static func members(layer: [UInt8], nearest: [UInt8]) -> [UInt8] {
        var members: [UInt8] = []
        members.append(addingCapacity: Limit.all) { output in
            output.append(member: ",\"recording\":", layer.span.extracting(first: Limit.layer))
            output.append(member: ",\"nearest\":", nearest.span.extracting(first: Limit.nearest))
        }
        return members
    }
}
