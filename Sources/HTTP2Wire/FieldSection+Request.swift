import HTTPMessage

extension FieldSection {
    enum RequestOutcome: Equatable {
        case complete(extendedConnect: Extent?)
        /// The request is malformed, which is a stream error (RFC 9113 §8.1.1).
        case malformed
        case unacceptable(RequestTargetError)
    }

    /// Moves the section into a request head, with a target made of the pseudo-header fields (RFC 9113 §8.3.1).
    ///
    /// libnghttp2 has checked each name and value, and which pseudo-header fields are present. This checks what a value means: a
    /// well-formed authority without userinfo, a path that begins with `/`, a Host field that names the same origin.
    mutating func takeRequest(into head: inout RequestHead, with memory: inout OriginMemory) -> RequestOutcome {
        guard !isMalformed, let method = pseudoFields.method, pseudoFields.status == nil else { return .malformed }
        swap(&head.fields, &fields)
        addCookies(to: &head.fields)
        head.version = .http2
        head.methodName = head.fields.appendBytes(pseudoSpan(of: method))
        head.method = Method(pseudoSpan(of: method))
        let isTunnel = head.method == .connect && pseudoFields.connectProtocol == nil
        guard let raw = isTunnel ? appendAuthority(to: &head) : appendURI(to: &head) else { return .malformed }
        head.rawTarget = raw
        do throws(RequestTargetError) {
            // With its own method, an extended CONNECT would require a target in authority form. So its target is parsed as that of a GET.
            head.target = try RequestTarget(
                parsing: raw.range, in: head.fields.bytes.span, method: head.method == .connect && !isTunnel ? .get : head.method,
                with: &memory)
        } catch {
            switch error {
            case .unsupportedScheme, .backslash, .nul: return .unacceptable(error)
            case .malformed, .formNotAllowed, .authority, .fragment, .illegalOctet: return .malformed
            }
        }
        // A Host field that cannot be parsed counts as a Host field that differs from `:authority` (RFC 9113 §8.3.1).
        if head.fields.contains(.host) {
            guard head.hostField != nil, head.hostFieldMatchesTarget else { return .malformed }
        }
        guard let connectProtocol = pseudoFields.connectProtocol else { return .complete(extendedConnect: nil) }
        return .complete(extendedConnect: head.fields.appendBytes(pseudoSpan(of: connectProtocol)))
    }

    /// The target of CONNECT (RFC 9113 §8.5).
    private func appendAuthority(to head: inout RequestHead) -> Extent? {
        guard let authority = pseudoFields.authority, pseudoFields.scheme == nil, pseudoFields.path == nil else { return nil }
        return head.fields.appendBytes(pseudoSpan(of: authority))
    }

    /// The target URI in absolute form, as in an HTTP/1.1 request to a proxy; `nil` if this URI would not be parsed to the same scheme,
    /// authority and path.
    private func appendURI(to head: inout RequestHead) -> Extent? {
        guard let scheme = pseudoFields.scheme, let path = pseudoFields.path, Self.isScheme(pseudoSpan(of: scheme)) else {
            return nil
        }
        let start = head.fields.appendBytes(pseudoSpan(of: scheme)).offset
        head.fields.appendBytes(UnsafeBufferPointer(start: Self.separator.utf8Start, count: 3).span)
        let authority: Extent
        if let given = pseudoFields.authority {
            authority = head.fields.appendBytes(pseudoSpan(of: given))
        } else if let host = head.fields.first(.host) {
            authority = Extent(offset: head.fields.bytes.count, count: Int(host.value.count))
            head.fields.appendCopy(of: host.value)
        } else {
            return nil
        }
        guard Self.endsWithPath(head.span(of: authority)) else { return nil }
        let isAsterisk = pseudoSpan(of: path).equals("*")
        if isAsterisk {
            // RFC 9112 §3.2.4: in absolute form, `*` is an empty path.
            guard head.method == .options else { return nil }
        } else {
            guard !path.isEmpty, pseudoSpan(of: path)[0] == ASCII.slash else { return nil }
            head.fields.appendBytes(pseudoSpan(of: path))
        }
        return Extent(Int(start)..<head.fields.bytes.count)
    }

    private static let separator: StaticString = "://"

    private static func isScheme(_ scheme: Span<UInt8>) -> Bool {
        if scheme.equals("https") || scheme.equals("http") { return true }
        guard !scheme.isEmpty, ASCII.isAlpha(scheme[0]) else { return false }
        for index in scheme.indices {
            let byte = scheme[index]
            guard ASCII.isAlpha(byte) || ASCII.isDigit(byte) || byte == 0x2B || byte == 0x2D || byte == 0x2E else { return false }
        }
        return true
    }

    /// Whether this authority contains none of the bytes that end an authority, so that a path can follow the authority.
    private static func endsWithPath(_ authority: Span<UInt8>) -> Bool {
        for index in authority.indices {
            let byte = authority[index]
            if byte == ASCII.slash || byte == ASCII.question || byte == UInt8(ascii: "#") || byte == ASCII.backslash {
                return false
            }
        }
        return !authority.isEmpty
    }
}
