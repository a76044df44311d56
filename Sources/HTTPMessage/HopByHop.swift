/// The field lines of a message that apply to one connection only and are not forwarded (RFC 9110 §7.6.1).
///
/// These are a fixed list, plus the fields that the `Connection` field nominates. Larder obeys a nomination only for a field that
/// Larder does not know. Otherwise `Connection: Host, Content-Length, Cookie, Via, Cache-Control, X-Forwarded-For` would let a client
/// remove fields on which the origin, the next proxy or the cache relies (T42 in docs/threats.md). RFC 9110 §7.6.1 forbids such
/// nominations.
///
///     let hopByHop = HopByHop(of: head.fields)
///     for line in head.fields.lines where !hopByHop.contains(line, of: head.fields) { … }
package struct HopByHop: Sendable {
    private let hasNominations: Bool

    /// The value for fields from which `removeNominated` has already removed the nominated fields.
    package static let afterNominations = HopByHop(hasNominations: false)

    private init(hasNominations: Bool) { self.hasNominations = hasNominations }

    package init(of fields: Fields) {
        hasNominations = ConnectionOptions(of: fields).hasNominations
    }

    /// Whether this line is hop-by-hop. The line must be from the head from which this value was made, or from the trailer section of
    /// the same message.
    package func contains(_ line: FieldLine, of fields: Fields) -> Bool {
        if line.known != .other { return Self.contains(line.known) }
        return hasNominations && Self.isNominated(fields.name(of: line), by: fields)
    }

    /// Whether the header fields in `fields` nominate this name as hop-by-hop. For the lines of a trailer section.
    package static func isNominated(_ name: Span<UInt8>, by fields: Fields) -> Bool {
        for line in fields.lines where line.known == .connection {
            let value = fields.value(of: line)
            var options = ListElements()
            while let option = options.next(in: value) {
                if value.extracting(option).equalsIgnoringCase(name) { return true }
            }
        }
        return false
    }

    /// The trailer section without its hop-by-hop lines; `fields` are the header fields of the same message.
    package static func endToEnd(_ trailers: Fields, under fields: Fields) -> Fields {
        if trailers.isEmpty { return trailers }
        var kept = trailers
        kept.remove { trailers, line in
            contains(line.known) || (line.known == .other && isNominated(trailers.name(of: line), by: fields))
        }
        return kept
    }

    /// The fixed list of hop-by-hop fields: those of RFC 9110 §7.6.1, the proxy fields of §11.7, `HTTP2-Settings` (RFC 7540 §3.2.1),
    /// and `Proxy`. The only use of `Proxy` is an attack that sets a program's environment variable `HTTP_PROXY` (T47 in
    /// docs/threats.md).
    package static func contains(_ field: KnownField) -> Bool { field.bit & bits != 0 }

    private static let bits: UInt64 =
        KnownField.connection.bit | KnownField.keepAlive.bit | KnownField.proxyConnection.bit | KnownField.te.bit
        | KnownField.transferEncoding.bit | KnownField.upgrade.bit | KnownField.http2Settings.bit
        | KnownField.proxyAuthenticate.bit | KnownField.proxyAuthenticationInfo.bit
        | KnownField.proxyAuthorization.bit | KnownField.proxy.bit
}

extension Fields {
    /// Removes the fields that `Connection` nominates: the sender meant these fields for this recipient only.
    package mutating func removeNominated() {
        // A set is used, because there may be thousands of options and thousands of lines.
        var nominated: Set<[UInt8]> = []
        for line in lines where line.known == .connection {
            let value = value(of: line)
            var options = ListElements()
            while let option = options.next(in: value) { nominated.insert(option.map { ASCII.lowercased(value[$0]) }) }
        }
        remove { fields, line in
            if line.known != .other { return false }
            let name = fields.name(of: line)
            return nominated.contains(name.indices.map { ASCII.lowercased(name[$0]) })
        }
    }
}
