/// The responses to DNS queries in a command's own network namespace, where every name stands for one address (RFC 1035).
///
/// Converts bytes to bytes. The query is untrusted input: it comes from the command.
enum NameAnswer {
    /// RFC 1035 §4.1.1.
    private enum Code: UInt8 {
        case good = 0
        case malformed = 1
        case notImplemented = 4
        case refused = 5
    }

    private static let headLength = 12
    /// RFC 1035 §3.1, §2.3.4: including the length byte before each label, and the one for the root.
    private static let nameLimit = 255
    private static let labelLimit = 63
    private static let ofAddress = 1
    private static let ofAnything = 255
    private static let internet = 1
    /// Longer queries are ignored.
    static let queryLimit = 4096

    /// - Parameter address: an IPv4 address of four bytes.
    /// - Returns: `nil` if the message gets no response: it has no head, or is a response itself.
    static func answer(to query: [UInt8], with address: [UInt8]) -> [UInt8]? {
        guard (headLength...queryLimit).contains(query.count), query[2] & 0x80 == 0 else { return nil }
        guard query[2] & 0x78 == 0 else { return head(query, .notImplemented) }
        guard query[4] == 0, query[5] == 1, let end = nameEnd(in: query), end + 4 <= query.count else {
            return head(query, .malformed)
        }
        let question = query[headLength..<end + 4]
        let type = Int(query[end]) << 8 | Int(query[end + 1])
        let space = Int(query[end + 2]) << 8 | Int(query[end + 3])
        guard space == internet || space == ofAnything else { return head(query, .refused, questions: 1) + question }
        // The name exists, but has no other records: no IPv6 address, no mail.
        guard type == ofAddress || type == ofAnything else { return head(query, .good, questions: 1) + question }
        // A pointer to the name; type A, class IN; not to be cached; the length.
        let record: [UInt8] = [0xC0, UInt8(headLength), 0, 1, 0, 1, 0, 0, 0, 0, 0, UInt8(address.count)]
        return head(query, .good, questions: 1, answers: 1) + question + record + address
    }

    /// The index of the type, after the question's name; `nil` if the name is malformed. Nothing precedes the name that it could point to.
    private static func nameEnd(in query: [UInt8]) -> Int? {
        var place = headLength
        while place < query.count, place - headLength < nameLimit {
            let length = Int(query[place])
            if length == 0 { return place + 1 }
            guard length <= labelLimit else { return nil }
            place += 1 + length
        }
        return nil
    }

    /// An authoritative response: no other server can be queried.
    private static func head(_ query: [UInt8], _ code: Code, questions: UInt8 = 0, answers: UInt8 = 0) -> [UInt8] {
        [query[0], query[1], 0x84 | query[2] & 0x79, 0x80 | code.rawValue, 0, questions, 0, answers, 0, 0, 0, 0]
    }
}
