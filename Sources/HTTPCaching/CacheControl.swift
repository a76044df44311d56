import HTTPMessage

/// The Cache-Control directives that Larder understands (RFC 9111 §5.2, RFC 5861, RFC 8246). Other directives are ignored (§5.2.3).
enum CacheDirective: UInt8 {
    case maxAge, maxStale, minFresh, noCache, noStore, noTransform, onlyIfCached
    case mustRevalidate, mustUnderstand, `private`, proxyRevalidate, `public`, sMaxAge
    case staleWhileRevalidate, staleIfError, immutable

    init?(_ name: Span<UInt8>) {
        switch name.count {
        case 6 where name.equalsIgnoringCase("public"): self = .public
        case 7 where name.equalsIgnoringCase("max-age"): self = .maxAge
        case 7 where name.equalsIgnoringCase("private"): self = .private
        case 8 where name.equalsIgnoringCase("no-cache"): self = .noCache
        case 8 where name.equalsIgnoringCase("no-store"): self = .noStore
        case 8 where name.equalsIgnoringCase("s-maxage"): self = .sMaxAge
        case 9 where name.equalsIgnoringCase("max-stale"): self = .maxStale
        case 9 where name.equalsIgnoringCase("min-fresh"): self = .minFresh
        case 9 where name.equalsIgnoringCase("immutable"): self = .immutable
        case 12 where name.equalsIgnoringCase("no-transform"): self = .noTransform
        case 14 where name.equalsIgnoringCase("only-if-cached"): self = .onlyIfCached
        case 14 where name.equalsIgnoringCase("stale-if-error"): self = .staleIfError
        case 15 where name.equalsIgnoringCase("must-revalidate"): self = .mustRevalidate
        case 15 where name.equalsIgnoringCase("must-understand"): self = .mustUnderstand
        case 16 where name.equalsIgnoringCase("proxy-revalidate"): self = .proxyRevalidate
        case 22 where name.equalsIgnoringCase("stale-while-revalidate"): self = .staleWhileRevalidate
        default: return nil
        }
    }
}

/// Iterates over the directives `#( token [ "=" ( token / quoted-string ) ] )` of one field line, without copying.
///
/// Text that does not fit the grammar is skipped up to the next comma outside quotes, and the directive is marked as malformed.
struct CacheDirectiveScanner {
    struct Element {
        var name: Range<Int>
        /// The argument without its quotes; `nil` if there is no `=`.
        var argument: Range<Int>?
        /// Whether the directive has text that does not fit the grammar.
        var isMalformed: Bool
    }

    private var index = 0
    /// Whether a quoted string has no closing quote. The text in it may have been a directive that forbids storing.
    private(set) var hasOpenQuote = false

    mutating func next(in value: Span<UInt8>) -> Element? {
        while index < value.count, ASCII.isBlank(value[index]) || value[index] == ASCII.comma { index += 1 }
        guard index < value.count else { return nil }
        let nameStart = index
        while index < value.count, ASCII.isTokenCharacter(value[index]) { index += 1 }
        var element = Element(name: nameStart..<index, argument: nil, isMalformed: index == nameStart)
        if index < value.count, value[index] == ASCII.equals {
            index += 1
            element.argument = readArgument(in: value, malformed: &element.isMalformed)
        }
        skipToComma(in: value, malformed: &element.isMalformed)
        return element
    }

    private mutating func readArgument(in value: Span<UInt8>, malformed: inout Bool) -> Range<Int> {
        let start = index
        guard start < value.count, value[start] == ASCII.quote else {
            while index < value.count, ASCII.isTokenCharacter(value[index]) { index += 1 }
            malformed = malformed || index == start
            return start..<index
        }
        index += 1
        while index < value.count, value[index] != ASCII.quote {
            index += value[index] == ASCII.backslash ? 2 : 1
        }
        guard index < value.count else {
            malformed = true
            hasOpenQuote = true
            index = value.count
            return start + 1..<index
        }
        index += 1
        return start + 1..<index - 1
    }

    private mutating func skipToComma(in value: Span<UInt8>, malformed: inout Bool) {
        var isQuoted = false
        while index < value.count, isQuoted || value[index] != ASCII.comma {
            let byte = value[index]
            if !ASCII.isBlank(byte) { malformed = true }
            if byte == ASCII.quote { isQuoted.toggle() }
            index += isQuoted && byte == ASCII.backslash ? 2 : 1
        }
        index = min(index, value.count)
        hasOpenQuote = hasOpenQuote || isQuoted
    }
}

/// The number in a directive's argument. Repeated and invalid values are reported (RFC 9111 §4.2.1).
enum DirectiveNumber: Equatable {
    case absent
    case seconds(DeltaSeconds)
    /// The argument is not a number, or the directive is repeated with different numbers.
    case invalid

    mutating func note(_ element: CacheDirectiveScanner.Element, in value: Span<UInt8>) {
        guard !element.isMalformed, let argument = element.argument, let number = DeltaSeconds(value.extracting(argument)) else {
            self = .invalid
            return
        }
        switch self {
        case .absent: self = .seconds(number)
        case .seconds(number): break
        case .seconds, .invalid: self = .invalid
        }
    }
}
