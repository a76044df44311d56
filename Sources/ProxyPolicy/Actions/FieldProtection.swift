import HTTPMessage

/// The fields that rules cannot change, with the reasons (T16 and T42 in docs/threats.md).
enum FieldProtection {
    /// The reason why rules may neither write nor remove this field; `nil` if they may at least remove it.
    static func reason(againstTouching name: FieldName) -> String? {
        switch name.known {
        case .contentLength, .transferEncoding, .trailer, .te, .contentRange:
            "\(name) frames the message; rules cannot change this field"
        case .connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .proxyAuthenticationInfo,
            .upgrade, .http2Settings, .expect:
            "\(name) belongs to one connection; rules cannot change this field"
        case .host: "Larder sets Host from the target of the request; rules cannot change this field"
        case .via, .maxForwards: "\(name) prevents loops; rules cannot change this field"
        case .age, .cacheStatus, .proxyStatus: "only this proxy sets \(name); rules cannot change this field"
        case .proxy: "Larder removes Proxy from every request; rules cannot change this field"
        default: nil
        }
    }

    /// The reason why rules may remove this field but not write it; `nil` if they may write it.
    static func reason(againstWriting field: KnownField, in message: FieldEdits.Message) -> String? {
        guard message == .request else { return nil }
        switch field {
        case .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince:
            return
                "the client would get a partial or conditional response that it did not request; a rule may only remove this field"
        default: return nil
        }
    }
}
