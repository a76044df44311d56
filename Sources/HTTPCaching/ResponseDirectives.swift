import HTTPMessage

/// The cache directives of a response (RFC 9111 §5.2.2), parsed once.
package struct ResponseDirectives {
    struct Flags: OptionSet {
        let rawValue: UInt16
        static let noStore = Flags(rawValue: 1 << 0)
        /// `no-cache` without field names: applies to the whole response.
        static let noCache = Flags(rawValue: 1 << 1)
        /// `no-cache` with field names: applies only to these fields.
        static let noCacheFields = Flags(rawValue: 1 << 2)
        /// `private` without field names: applies to the whole response.
        static let `private` = Flags(rawValue: 1 << 3)
        /// `private` with field names: applies only to these fields.
        static let privateFields = Flags(rawValue: 1 << 4)
        static let `public` = Flags(rawValue: 1 << 5)
        static let mustRevalidate = Flags(rawValue: 1 << 6)
        static let proxyRevalidate = Flags(rawValue: 1 << 7)
        static let mustUnderstand = Flags(rawValue: 1 << 8)
        static let immutable = Flags(rawValue: 1 << 9)
        static let noTransform = Flags(rawValue: 1 << 10)
    }

    var flags: Flags = []
    var maxAge = DirectiveNumber.absent
    var sMaxAge = DirectiveNumber.absent
    var staleWhileRevalidate = DirectiveNumber.absent
    var staleIfError = DirectiveNumber.absent

    /// Whether the directives are from a targeted field: Cache-Control and Expires are then ignored (RFC 9213 §2.2).
    var isTargeted = false

    init() {}

    /// Whether the origin server forbids storing in a shared cache.
    package var forbidsSharing: Bool { !flags.isDisjoint(with: [.noStore, .private]) }

    package init(_ fields: Fields, targets: TargetedCacheControl) {
        self = targets.directives(of: fields) ?? ResponseDirectives(fields)
    }

    init(_ fields: borrowing Fields) {
        guard fields.contains(.cacheControl) else { return }
        var index = fields.index(of: .cacheControl)
        while let found = index {
            note(fields.value(of: fields.lines[found]))
            index = fields.index(of: .cacheControl, from: found + 1)
        }
    }

    private mutating func note(_ value: Span<UInt8>) {
        var scanner = CacheDirectiveScanner()
        while let element = scanner.next(in: value) {
            guard let directive = CacheDirective(value.extracting(element.name)) else { continue }
            switch directive {
            case .noStore: flags.insert(.noStore)
            case .noCache: flags.insert(QualifiedNames.areNamed(by: element, in: value) ? .noCacheFields : .noCache)
            case .private: flags.insert(QualifiedNames.areNamed(by: element, in: value) ? .privateFields : .private)
            case .public: flags.insert(.public)
            case .mustRevalidate: flags.insert(.mustRevalidate)
            case .proxyRevalidate: flags.insert(.proxyRevalidate)
            case .mustUnderstand: flags.insert(.mustUnderstand)
            case .immutable: flags.insert(.immutable)
            case .noTransform: flags.insert(.noTransform)
            case .maxAge: maxAge.note(element, in: value)
            case .sMaxAge: sMaxAge.note(element, in: value)
            case .staleWhileRevalidate: staleWhileRevalidate.note(element, in: value)
            case .staleIfError: staleIfError.note(element, in: value)
            case .maxStale, .minFresh, .onlyIfCached: break
            }
        }
        // Another parser may find no-store or private after a quote that is never closed.
        if scanner.hasOpenQuote { flags.formUnion([.noStore, .private]) }
    }
}

/// The field names in the argument of a qualified `no-cache` or `private` (RFC 9111 §5.2.2.4, §5.2.2.7).
enum QualifiedNames {
    /// Whether the directive names fields that Larder can handle. Otherwise it is treated as unqualified, which is stricter.
    static func areNamed(by element: CacheDirectiveScanner.Element, in value: Span<UInt8>) -> Bool {
        guard let argument = element.argument, !element.isMalformed else { return false }
        let list = value.extracting(argument)
        var elements = ListElements()
        var isEmpty = true
        while let name = elements.next(in: list) {
            for index in name where !ASCII.isTokenCharacter(list[index]) { return false }
            isEmpty = false
        }
        return !isEmpty
    }

    /// Whether the fields have any qualified `no-cache` or `private`, so that a caller can skip the check of each field.
    static func areThere(in fields: Fields) -> Bool {
        var index = fields.index(of: .cacheControl)
        while let found = index {
            let value = fields.value(of: fields.lines[found])
            var scanner = CacheDirectiveScanner()
            while let element = scanner.next(in: value) {
                guard element.argument != nil, let directive = CacheDirective(value.extracting(element.name)) else { continue }
                if directive == .noCache || directive == .private { return true }
            }
            index = fields.index(of: .cacheControl, from: found + 1)
        }
        return false
    }

    /// Whether a qualified `no-cache` or `private` of the response names this field.
    static func contain(_ fieldName: Span<UInt8>, in fields: Fields) -> Bool {
        var index = fields.index(of: .cacheControl)
        while let found = index {
            let value = fields.value(of: fields.lines[found])
            var scanner = CacheDirectiveScanner()
            while let element = scanner.next(in: value) {
                guard let argument = element.argument,
                    let directive = CacheDirective(value.extracting(element.name)),
                    directive == .noCache || directive == .private
                else { continue }
                let list = value.extracting(argument)
                var elements = ListElements()
                while let name = elements.next(in: list) {
                    if list.extracting(name).equalsIgnoringCase(fieldName) { return true }
                }
            }
            index = fields.index(of: .cacheControl, from: found + 1)
        }
        return false
    }
}
