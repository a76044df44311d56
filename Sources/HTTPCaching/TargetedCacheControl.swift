import HTTPMessage
import RawStructuredFieldValues

/// The targeted fields that replace Cache-Control and Expires, most applicable first (RFC 9213 §2.2).
public struct TargetedCacheControl: Equatable, Sendable {
    private let names: [[UInt8]]

    /// - Parameter names: field names, compared case-insensitively.
    public init(_ names: [String]) { self.names = names.map { Array($0.utf8) } }

    /// No targeted fields: only Cache-Control is used.
    public static let none = TargetedCacheControl([])

    /// The directives of the first listed field that is valid and not empty; `nil` if there is none.
    func directives(of fields: Fields) -> ResponseDirectives? {
        for name in names {
            if let directives = Self.directives(ofField: name, in: fields) { return directives }
        }
        return nil
    }

    /// The directives of one targeted field; `nil` if the field is absent. A field that is empty or does not parse is treated as absent
    /// (RFC 9213 §2.1).
    private static func directives(ofField name: [UInt8], in fields: Fields) -> ResponseDirectives? {
        var value: [UInt8] = []
        var index = fields.index(ofName: name.span)
        while let found = index {
            if !value.isEmpty { value.append(ASCII.comma) }
            value.append(fields.value(of: fields.lines[found]))
            index = fields.index(ofName: name.span, from: found + 1)
        }
        var parser = StructuredFieldValueParser(value)
        // `try?` loses nothing: the error says only that the field does not parse.
        guard let members = try? parser.parseDictionaryFieldValue(), !members.isEmpty else { return nil }
        var directives = ResponseDirectives()
        directives.isTargeted = true
        for (key, member) in members {
            guard let directive = CacheDirective(Array(key.utf8).span) else { continue }
            directives.note(directive, TargetedArgument(member))
        }
        return directives
    }
}

/// The argument of a targeted field's member, limited to the types that directives use (RFC 9213 §2.1).
enum TargetedArgument {
    case isTrue, isFalse
    case seconds(Int64)
    case other

    init(_ member: ItemOrInnerList) {
        self = .other
        guard case .item(let item) = member else { return }
        switch item.rfc9651BareItem {
        case .bool(let isTrue): self = isTrue ? .isTrue : .isFalse
        case .integer(let number): self = .seconds(number)
        default: break
        }
    }
}

extension ResponseDirectives {
    /// Directives that forbid or restrict apply with any argument. Directives that permit apply only with the argument that they define
    /// (values of other types are ignored, RFC 9213 §2.1). `private` and `no-cache` with field names are treated as unqualified.
    fileprivate mutating func note(_ directive: CacheDirective, _ argument: TargetedArgument) {
        if case .isFalse = argument { return }
        switch directive {
        case .noStore: flags.insert(.noStore)
        case .noCache: flags.insert(.noCache)
        case .private: flags.insert(.private)
        case .mustRevalidate: flags.insert(.mustRevalidate)
        case .proxyRevalidate: flags.insert(.proxyRevalidate)
        case .mustUnderstand: if case .isTrue = argument { flags.insert(.mustUnderstand) }
        case .public: if case .isTrue = argument { flags.insert(.public) }
        case .immutable: flags.insert(.immutable)
        case .noTransform: flags.insert(.noTransform)
        case .maxAge: maxAge = DirectiveNumber(argument)
        case .sMaxAge: sMaxAge = DirectiveNumber(argument)
        case .staleWhileRevalidate: staleWhileRevalidate = DirectiveNumber(argument)
        case .staleIfError: staleIfError = DirectiveNumber(argument)
        case .maxStale, .minFresh, .onlyIfCached: break
        }
    }
}

extension DirectiveNumber {
    fileprivate init(_ argument: TargetedArgument) {
        guard case .seconds(let number) = argument, number >= 0 else {
            self = .invalid
            return
        }
        self = .seconds(DeltaSeconds(number))
    }
}
