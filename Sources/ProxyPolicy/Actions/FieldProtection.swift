import HTTPMessage

/// Which fields no rule may reach, and why (T16, T42).
enum FieldProtection {
    /// Why no rule may write or remove this field, or `nil`.
    static func reason(againstTouching name: FieldName) -> String? {
        switch name.known {
        case .contentLength, .transferEncoding, .trailer, .te, .contentRange:
            "\(name) frames the message; no rule may change it"
        case .connection, .keepAlive, .proxyConnection, .proxyAuthenticate, .proxyAuthorization, .proxyAuthenticationInfo,
            .upgrade, .http2Settings, .expect:
            "\(name) belongs to one connection; no rule may change it"
        case .host: "Host follows from the target of the request; no rule may change it"
        case .via, .maxForwards: "\(name) guards against loops; no rule may change it"
        case .age, .cacheStatus, .proxyStatus: "\(name) is what this proxy says itself; no rule may change it"
        case .proxy: "Proxy is dropped from every request; no rule may change it"
        default: nil
        }
    }

    /// Why no rule may write this field, though it may remove it, or `nil`.
    static func reason(againstWriting field: KnownField, in message: FieldEdits.Message) -> String? {
        guard message == .request else { return nil }
        switch field {
        case .range, .ifRange, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince:
            return "the client would be sent a part or a comparison for which it did not ask; a rule may only remove this field"
        default: return nil
        }
    }
}
