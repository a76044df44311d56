import HTTPMessage

/// The cache key as changed by rules.
///
/// A parameter that a rule leaves out of the key still goes to the origin server. The server might read it as a different
/// parameter that is in the key. Then a client could choose the response that Larder stores for other clients ("parameter
/// cloaking"). So Larder only leaves out or moves parameters that all common servers parse alike. Anything else stays in the key
/// unchanged: `;`, encoded or bracketed names, and a name that differs only in case from a name in the key. The worst result is a
/// cache miss.
extension CacheKey {
    /// A query with more parameters than this is not sorted.
    package static let sortedParameterLimit = 64

    /// Like `write(_:into:)`, with the changes of rules applied. Allocates only to sort a query.
    package static func write(_ request: borrowing RequestHead, _ rewriting: KeyRewriting, into output: inout [UInt8]) {
        if !output.isEmpty { output.removeAll(keepingCapacity: true) }
        if let host = rewriting.canonicalHost {
            switch request.target.scheme {
            case .http: output.append("http://")
            case .https: output.append("https://")
            }
            output.append(contentsOf: host)
            output.append(ASCII.colon)
            output.append(decimal: UInt64(request.target.port))
        } else {
            writeOrigin(of: request, into: &output)
        }
        if request.target.path.isEmpty {
            output.append(ASCII.slash)
        } else {
            output.append(request.span(of: request.target.path))
        }
        guard !request.target.query.isEmpty else { return }
        let query = request.span(of: request.target.query)
        writeQuery(query.extracting(1..<query.count), rewriting, into: &output)
    }

    /// Separates the keys of a method whose content is part of the key from those of GET. No URI contains a space.
    package static func appendMethod(_ name: StaticString, to key: inout [UInt8]) {
        key.append(ASCII.space)
        key.append(name)
    }

    /// Reads a GET key, and the keys for the same URI of methods whose content is part of the key.
    package static func withContentKeys(_ key: [UInt8]) -> [[UInt8]] {
        let names: [StaticString] = [Method.query.name, Method.post.name]
        return [key]
            + names.map { name in
                var key = key
                appendMethod(name, to: &key)
                return key
            }
    }

    private static func writeQuery(_ query: Span<UInt8>, _ rewriting: KeyRewriting, into output: inout [UInt8]) {
        if rewriting.sortsQuery == true, let order = sortedParameters(of: query) {
            var separator = ASCII.question
            for parameter in order { write(parameter, of: query, rewriting, behind: &separator, into: &output) }
            return
        }
        var separator = ASCII.question
        var start = 0
        while start <= query.count {
            let parameter = QueryParameter(in: query, from: start)
            write(parameter, of: query, rewriting, behind: &separator, into: &output)
            start = parameter.end + 1
        }
    }

    /// The query's parameters, sorted by name. Parameters whose names a server might treat as equal keep their order.
    /// - Returns: `nil` if the order may have a meaning that Larder cannot see, or if there are more parameters than
    ///   `sortedParameterLimit`.
    private static func sortedParameters(of query: Span<UInt8>) -> [QueryParameter]? {
        // This is an array, because Swift 6.3's optimizer loses writes to an InlineArray in a failable initializer.
        var parameters: [QueryParameter] = []
        var start = 0
        while start <= query.count {
            let parameter = QueryParameter(in: query, from: start)
            guard parameter.hasPlainName, !parameter.holdsSemicolon, parameters.count < sortedParameterLimit else { return nil }
            var place = parameters.count
            while place > 0, query.foldedName(of: parameter, precedesThatOf: parameters[place - 1]) { place -= 1 }
            parameters.insert(parameter, at: place)
            start = parameter.end + 1
        }
        return parameters
    }

    private static func write(
        _ parameter: QueryParameter, of query: Span<UInt8>, _ rewriting: KeyRewriting, behind separator: inout UInt8,
        into output: inout [UInt8]
    ) {
        if rewriting.leavesOut(parameter, of: query) { return }
        output.append(separator)
        output.append(query.extracting(parameter.start..<parameter.end))
        separator = UInt8(ascii: "&")
    }
}

extension KeyRewriting {
    func leavesOut(_ parameter: QueryParameter, of query: Span<UInt8>) -> Bool {
        guard !parameter.holdsSemicolon else { return false }
        let name = query.extracting(parameter.start..<parameter.nameEnd)
        for pattern in dropped ?? [] {
            if pattern.isPrefix ? parameter.hasPlainName && name.starts(with: pattern.name) : name.equals(pattern.name.span) {
                return true
            }
        }
        guard let kept, parameter.hasPlainName else { return false }
        for pattern in kept where name.folds(onto: pattern) { return false }
        return true
    }
}

/// One `name=value` of a query, as positions in the query.
struct QueryParameter {
    let start: Int
    let end: Int
    let nameEnd: Int
    /// Whether the parameter's name is not empty and has only letters, digits, `_`, `-` and `.`.
    let hasPlainName: Bool
    let holdsSemicolon: Bool

    init(in query: Span<UInt8>, from start: Int) {
        self.start = start
        var nameEnd: Int?
        var isPlain = true
        var holdsSemicolon = false
        var index = start
        while index < query.count, query[index] != UInt8(ascii: "&") {
            let byte = query[index]
            if byte == UInt8(ascii: ";") { holdsSemicolon = true }
            if byte == UInt8(ascii: "="), nameEnd == nil { nameEnd = index }
            if nameEnd == nil { isPlain = isPlain && Self.isPlain(byte) }
            index += 1
        }
        end = index
        self.nameEnd = nameEnd ?? index
        hasPlainName = isPlain && self.nameEnd > start
        self.holdsSemicolon = holdsSemicolon
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }
}

/// A byte of a name, folded as the most lenient servers do: case-insensitive, `.` equal to `_`.
private func folded(_ byte: UInt8) -> UInt8 { byte == UInt8(ascii: ".") ? UInt8(ascii: "_") : ASCII.lowercased(byte) }

extension Span<UInt8> {
    fileprivate func starts(with prefix: [UInt8]) -> Bool {
        count >= prefix.count && extracting(0..<prefix.count).equals(prefix.span)
    }

    fileprivate func folds(onto pattern: KeyRewriting.ParameterPattern) -> Bool {
        let name = pattern.name
        guard pattern.isPrefix ? count >= name.count : count == name.count else { return false }
        for index in 0..<name.count where folded(self[index]) != folded(name[index]) { return false }
        return true
    }

    fileprivate func foldedName(of left: QueryParameter, precedesThatOf right: QueryParameter) -> Bool {
        let common = Swift.min(left.nameEnd - left.start, right.nameEnd - right.start)
        for index in 0..<common {
            let (a, b) = (folded(self[left.start + index]), folded(self[right.start + index]))
            if a != b { return a < b }
        }
        return left.nameEnd - left.start < right.nameEnd - right.start
    }
}
