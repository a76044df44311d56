/// What whoever asks for a name is answered in a command's own network, where every name stands for one address (RFC 1035).
///
/// Bytes to bytes. What is asked may be anything: it comes from the command.
enum NameAnswer {
    /// RFC 1035 §4.1.1.
    private enum Code: UInt8 {
        case good = 0
        case malformed = 1
        case notImplemented = 4
        case refused = 5
    }

    private static let headLength = 12
    /// RFC 1035 §3.1, §2.3.4: with the byte of length before each label, and the one for the root.
    private static let nameLimit = 255
    private static let labelLimit = 63
    private static let ofAddress = 1
    private static let ofAnything = 255
    private static let internet = 1
    /// No longer query is looked at.
    static let queryLimit = 4096

    /// - Parameter address: of IPv4, four bytes.
    /// - Returns: `nil` for what gets no answer: what has no head, and what is an answer itself.
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
        // There is the name, and nothing else of it: no address of IPv6, no mail.
        guard type == ofAddress || type == ofAnything else { return head(query, .good, questions: 1) + question }
        // The name again, by its place; an address of the Internet; not to be kept; so long.
        let record: [UInt8] = [0xC0, UInt8(headLength), 0, 1, 0, 1, 0, 0, 0, 0, 0, UInt8(address.count)]
        return head(query, .good, questions: 1, answers: 1) + question + record + address
    }

    /// Where the type stands, behind the question's name; `nil` for what is no name. Nothing stands before it that it could refer to.
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

    /// An answer with authority: there is nobody else to be asked.
    private static func head(_ query: [UInt8], _ code: Code, questions: UInt8 = 0, answers: UInt8 = 0) -> [UInt8] {
        [query[0], query[1], 0x84 | query[2] & 0x79, 0x80 | code.rawValue, 0, questions, 0, answers, 0, 0, 0, 0]
    }
}
