import HTTPMessage

/// The parameters of a request's query, as servers may read them.
///
/// A server may separate parameters at `;` as well as at `&`. It may decode names and values once or twice, and ignore the case
/// of names. If several parameters have the same name, it may use the first or the last one. The positions are made once per
/// request, and only if a rule has `query`. The storage is reused.
struct QueryParameters: Sendable {
    /// The maximum number of parameters. If a query has more, `isComplete` is false.
    static let limit = 256

    /// One `name=value`, as positions in the query.
    private struct Parameter {
        let start: UInt32
        let nameEnd: UInt32
        let end: UInt32
        /// Whether this parameter exists only for a server that separates parameters at `;`.
        let isPart: Bool

        var name: Range<Int> { Int(start)..<Int(nameEnd) }
        var value: Range<Int> { min(Int(nameEnd) + 1, Int(end))..<Int(end) }
    }

    private var parameters: [Parameter] = []
    private var isMade = false
    private var isComplete = true
    private var text = TextReadings()

    mutating func removeAll() {
        text.removeAll()
        guard isMade else { return }
        isMade = false
        isComplete = true
        parameters.removeAll(keepingCapacity: true)
    }

    mutating func match(_ condition: QueryCondition, in request: RequestHead, as readings: MatchedReadings) -> Bool {
        if request.target.query.isEmpty { return false }
        let whole = request.span(of: request.target.query)
        let query = whole.extracting(1..<whole.count)
        make(from: query)
        var isFound = false
        for number in 0..<parameters.count {
            let parameter = parameters[number]
            guard mayBeNamed(parameter, by: condition, in: query) else { continue }
            let isNamed = !parameter.isPart && isNamed(parameter, by: condition, in: query)
            let matches = matchesValue(of: parameter, condition, in: query, as: readings)
            switch readings {
            case .any: if matches { return true }
            case .asSent: if isNamed, matches { return true }
            case .every:
                if !matches { return false }
                isFound = isFound || isNamed
            }
        }
        switch readings {
        case .any: return !isComplete
        case .asSent: return false
        case .every: return isFound && isComplete
        }
    }

    private mutating func mayBeNamed(_ parameter: Parameter, by condition: QueryCondition, in query: Span<UInt8>) -> Bool {
        let name = query.extracting(parameter.name)
        if !TextReadings.isEncoded(name) { return condition.mayBeNamed(by: name) }
        text.read(name)
        for number in 0..<text.count where condition.mayBeNamed(by: text[number]) { return true }
        return false
    }

    /// Whether a server that decodes the parameter's name once, as form data, gets exactly the name in the condition.
    private mutating func isNamed(_ parameter: Parameter, by condition: QueryCondition, in query: Span<UInt8>) -> Bool {
        text.read(query.extracting(parameter.name))
        return text[text.decoded].equals(condition.name.span)
    }

    private mutating func matchesValue(
        of parameter: Parameter, _ condition: QueryCondition, in query: Span<UInt8>, as readings: MatchedReadings
    ) -> Bool {
        text.read(query.extracting(parameter.value))
        let values = condition.values
        switch readings {
        case .any:
            text.fold()
            for number in 0..<text.count where values.contains(matching: text[number], isFolded: true) { return true }
            return false
        case .every:
            for number in text.decoded..<text.count where !values.contains(matching: text[number], isFolded: false) {
                return false
            }
            return true
        case .asSent: return values.contains(matching: text[text.decoded], isFolded: false)
        }
    }

    private mutating func make(from query: Span<UInt8>) {
        if isMade { return }
        isMade = true
        var start = 0
        while start <= query.count {
            let end = Self.end(in: query, from: start, until: query.count, separator: UInt8(ascii: "&"))
            add(start..<end, of: query, isPart: false)
            addParts(of: start..<end, of: query)
            start = end + 1
        }
    }

    private mutating func addParts(of range: Range<Int>, of query: Span<UInt8>) {
        var start = range.lowerBound
        while start <= range.upperBound {
            let end = Self.end(in: query, from: start, until: range.upperBound, separator: ASCII.semicolon)
            if start..<end == range { return }
            add(start..<end, of: query, isPart: true)
            start = end + 1
        }
    }

    private mutating func add(_ range: Range<Int>, of query: Span<UInt8>, isPart: Bool) {
        if range.isEmpty { return }
        guard parameters.count < Self.limit else { return isComplete = false }
        let nameEnd = Self.end(in: query, from: range.lowerBound, until: range.upperBound, separator: ASCII.equals)
        parameters.append(
            Parameter(
                start: UInt32(range.lowerBound), nameEnd: UInt32(nameEnd), end: UInt32(range.upperBound), isPart: isPart))
    }

    private static func end(in query: Span<UInt8>, from start: Int, until limit: Int, separator: UInt8) -> Int {
        var end = start
        while end < limit, query[end] != separator { end += 1 }
        return end
    }
}
