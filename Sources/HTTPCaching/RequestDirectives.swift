import HTTPMessage

/// The cache directives and other facts of a request that affect the use of a stored response, parsed once. A trivial type (no
/// reference counts).
package struct RequestDirectives: Equatable, Sendable {
    package struct Flags: OptionSet, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }

        package static let noCache = Flags(rawValue: 1 << 0)
        package static let noStore = Flags(rawValue: 1 << 1)
        package static let onlyIfCached = Flags(rawValue: 1 << 2)
        package static let maxAge = Flags(rawValue: 1 << 3)
        package static let maxStale = Flags(rawValue: 1 << 4)
        package static let minFresh = Flags(rawValue: 1 << 5)
        /// `Pragma: no-cache` without a Cache-Control field.
        package static let pragmaNoCache = Flags(rawValue: 1 << 6)
        package static let authorization = Flags(rawValue: 1 << 7)
        /// If-None-Match or If-Modified-Since: a cache evaluates them (RFC 9111 §4.3.2).
        package static let cacheCondition = Flags(rawValue: 1 << 8)
        /// If-Match or If-Unmodified-Since: only the origin server evaluates them.
        package static let originCondition = Flags(rawValue: 1 << 9)
        package static let range = Flags(rawValue: 1 << 10)
        package static let ifRange = Flags(rawValue: 1 << 11)
        /// The request has content, or declares it.
        package static let content = Flags(rawValue: 1 << 12)
        package static let isGET = Flags(rawValue: 1 << 13)
        package static let isHEAD = Flags(rawValue: 1 << 14)
        package static let staleIfError = Flags(rawValue: 1 << 15)
        /// A rule makes the content of this QUERY or POST part of the key.
        package static let isKeyedByContent = Flags(rawValue: 1 << 16)
    }

    package private(set) var flags: Flags
    /// Used only if `flags` contains `.maxAge`.
    package private(set) var maxAge = DeltaSeconds.zero
    /// Used only if `flags` contains `.maxStale`; the greatest value if the directive has no argument.
    package private(set) var maxStale = DeltaSeconds.zero
    /// Used only if `flags` contains `.minFresh`.
    package private(set) var minFresh = DeltaSeconds.zero
    /// Used only if `flags` contains `.staleIfError` (RFC 5861 §4).
    package private(set) var staleIfError = DeltaSeconds.zero
    /// The mark of the active trust policy for the target; 0 for plain http. A stored response is used only if it has the same mark.
    /// Larder computes the mark; the client does not send it.
    package var trust: UInt64 = 0

    /// Whether max-age rejects a response of this age, in milliseconds (RFC 9111 §5.2.1.1). Clients send max-age=0 to force validation,
    /// so it rejects every response, even one that was received in the same millisecond.
    func asksForYounger(than age: Int64) -> Bool { contains(.maxAge) && (age > maxAge.milliseconds || maxAge == .zero) }

    package init(_ request: borrowing RequestHead) {
        // A pattern match is faster here: == of an enum with raw values is a generic call.
        switch request.method {
        case .get: flags = .isGET
        case .head: flags = .isHEAD
        default: flags = []
        }
        // Most requests have no field that is read below, so this bit test is enough for them.
        guard request.fields.present & Self.readFields != 0 else { return }
        let fields = request.fields
        if fields.contains(.authorization) { flags.insert(.authorization) }
        if fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince) { flags.insert(.cacheCondition) }
        if fields.contains(.ifMatch) || fields.contains(.ifUnmodifiedSince) { flags.insert(.originCondition) }
        if fields.contains(.range) { flags.insert(.range) }
        if fields.contains(.ifRange) { flags.insert(.ifRange) }
        if fields.contains(.transferEncoding) || Self.announcesContent(fields) { flags.insert(.content) }
        if fields.contains(.cacheControl) {
            readCacheControl(fields)
        } else if fields.contains(.pragma), Self.pragmaSaysNoCache(fields) {
            flags.insert(.pragmaNoCache)
        }
    }

    /// Makes the content part of the key.
    package mutating func keyByContent() {
        flags.insert(.isKeyedByContent)
        flags.remove(.content)
    }

    package func contains(_ flags: Flags) -> Bool { self.flags.contains(flags) }

    private static let readFields: UInt64 =
        KnownField.cacheControl.bit | KnownField.pragma.bit | KnownField.authorization.bit
        | KnownField.ifMatch.bit | KnownField.ifNoneMatch.bit | KnownField.ifModifiedSince.bit
        | KnownField.ifUnmodifiedSince.bit | KnownField.ifRange.bit | KnownField.range.bit
        | KnownField.contentLength.bit | KnownField.transferEncoding.bit

    private mutating func readCacheControl(_ fields: Fields) {
        var index = fields.index(of: .cacheControl)
        while let found = index {
            note(fields.value(of: fields.lines[found]))
            index = fields.index(of: .cacheControl, from: found + 1)
        }
    }

    /// Request directives are advice (RFC 9111 §5.2.1): an invalid directive is ignored, so that it does not make every request bypass
    /// the cache (T26 in docs/threats.md). If a directive is repeated, the most restrictive value applies.
    private mutating func note(_ value: Span<UInt8>) {
        var scanner = CacheDirectiveScanner()
        while let element = scanner.next(in: value) {
            guard let directive = CacheDirective(value.extracting(element.name)) else { continue }
            let number = element.isMalformed ? nil : element.argument.flatMap { DeltaSeconds(value.extracting($0)) }
            switch directive {
            case .noCache: flags.insert(.noCache)
            case .noStore: flags.insert(.noStore)
            case .onlyIfCached: flags.insert(.onlyIfCached)
            case .maxAge:
                guard let number else { continue }
                maxAge = contains(.maxAge) ? min(maxAge, number) : number
                flags.insert(.maxAge)
            case .minFresh:
                guard let number else { continue }
                minFresh = max(minFresh, number)
                flags.insert(.minFresh)
            case .maxStale:
                guard !element.isMalformed, let bound = element.argument == nil ? .greatest : number else { continue }
                maxStale = contains(.maxStale) ? min(maxStale, bound) : bound
                flags.insert(.maxStale)
            case .staleIfError:
                guard let number else { continue }
                staleIfError = contains(.staleIfError) ? min(staleIfError, number) : number
                flags.insert(.staleIfError)
            default: break
            }
        }
    }

    private static func pragmaSaysNoCache(_ fields: Fields) -> Bool {
        var index = fields.index(of: .pragma)
        while let found = index {
            let value = fields.value(of: fields.lines[found])
            var scanner = CacheDirectiveScanner()
            while let element = scanner.next(in: value) {
                if value.extracting(element.name).equalsIgnoringCase("no-cache") { return true }
            }
            index = fields.index(of: .pragma, from: found + 1)
        }
        return false
    }

    private static func announcesContent(_ fields: Fields) -> Bool {
        guard let line = fields.first(.contentLength) else { return false }
        return !fields.value(of: line).equals("0")
    }
}
