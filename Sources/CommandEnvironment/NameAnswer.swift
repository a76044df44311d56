/// The responses to DNS queries in a command's own network namespace (RFC 1035).
///
/// Converts bytes to bytes. The query is untrusted input: it comes from the command.
enum NameAnswer {
    /// The response codes of RFC 1035 §4.1.1.
    private enum Code: UInt8 {
        case good = 0
        case malformed = 1
        case nameError = 3
        case notImplemented = 4
        case refused = 5
    }

    private static let headLength = 12
    /// The longest name in bytes (RFC 1035 §3.1, §2.3.4), with the length byte before each label and the byte for the root.
    private static let nameLimit = 255
    private static let labelLimit = 63
    private static let ofAddress = 1
    /// The type AAAA (RFC 3596 §2.1).
    private static let ofIPv6Address = 28
    private static let ofAnything = 255
    private static let internet = 1
    /// Longer queries are ignored.
    static let queryLimit = 4096

    /// - Parameters:
    ///   - resolve: looks up the addresses of a name, given as labels with dots between them.
    ///   - exists: tells whether a name exists, for a query about records other than addresses.
    /// - Returns: `nil` if the message gets no response: it has no head, or is a response itself.
    static func answer(
        to query: [UInt8], by resolve: ([UInt8]) -> NameResolution, exists: ([UInt8]) -> Bool
    ) -> [UInt8]? {
        guard (headLength...queryLimit).contains(query.count), query[2] & 0x80 == 0 else { return nil }
        guard query[2] & 0x78 == 0 else { return head(query, .notImplemented) }
        guard query[4] == 0, query[5] == 1, let end = nameEnd(in: query), end + 4 <= query.count else {
            return head(query, .malformed)
        }
        let question = query[headLength..<end + 4]
        let type = Int(query[end]) << 8 | Int(query[end + 1])
        let space = Int(query[end + 2]) << 8 | Int(query[end + 3])
        guard space == internet || space == ofAnything else { return head(query, .refused, questions: 1) + question }
        let name = name(in: query, endingBefore: end)
        guard [ofAddress, ofIPv6Address, ofAnything].contains(type) else {
            // In the namespace, names have only address records: none for mail, none for services. A name that does not exist has no
            // records of any type (RFC 8020).
            return head(query, exists(name) ? .good : .nameError, questions: 1) + question
        }
        let addresses: (ipv4: [UInt8], ipv6: [UInt8]?)
        switch resolve(name) {
        case .addresses(let ipv4, let ipv6): addresses = (ipv4, ipv6)
        case .none: return head(query, .nameError, questions: 1) + question
        case .refused: return head(query, .refused, questions: 1) + question
        }
        var records: [[UInt8]] = []
        if type == ofAddress || type == ofAnything { records.append(record(ofAddress, addresses.ipv4)) }
        if type == ofIPv6Address || type == ofAnything, let ipv6 = addresses.ipv6 {
            records.append(record(ofIPv6Address, ipv6))
        }
        return head(query, .good, questions: 1, answers: UInt8(records.count)) + question + records.joined()
    }

    /// The resource record: a pointer to the name, the type, class IN, a TTL of 0 (not to be cached), the length, and the address.
    private static func record(_ type: Int, _ address: [UInt8]) -> [UInt8] {
        [0xC0, UInt8(headLength), 0, UInt8(type), 0, 1, 0, 0, 0, 0, 0, UInt8(address.count)] + address
    }

    /// The labels of a well-formed name, with dots between them.
    private static func name(in query: [UInt8], endingBefore end: Int) -> [UInt8] {
        var name: [UInt8] = []
        var place = headLength
        while place < end - 1 {
            let length = Int(query[place])
            if !name.isEmpty { name.append(UInt8(ascii: ".")) }
            name += query[place + 1..<place + 1 + length]
            place += 1 + length
        }
        return name
    }

    /// The index of the type, after the question's name; `nil` if the name is malformed. A compression pointer is malformed too, because
    /// it could only point to an earlier name, and the question's name is the first.
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
