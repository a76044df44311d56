import HTTPMessage

/// The request as sent to the origin: its start line in the form for the next server, Host from the target, without hop-by-hop lines, and
/// with our Via.
///
/// RFC 9110 §7.6 (forwarding), RFC 9112 §3.2 (target forms). Host is generated from an absolute-form target (RFC 9112 §3.2.2). `Proxy` is
/// removed, because programs take it for a setting (httpoxy, T47).
struct ForwardedRequest {
    let request: RequestHead
    /// The request's fields, with our own conditions.
    let fields: Fields
    let body: BodyLength
    let context: ExchangeContext
    /// Whether Range is removed, because the complete response is needed.
    let asksForWhole: Bool
    /// Whether the content has already been gathered. If so, Expect is not forwarded.
    var isBodyAtHand = false
    /// Whether a request to switch protocols is forwarded as such.
    var isForSwitch = false

    func write(into output: inout [UInt8]) {
        writeRequestLine(into: &output)
        output.append("Host: ")
        writeAuthority(into: &output)
        output.append("\r\n")
        // Fields nominated by the client's Connection are already removed; fields added by a rule stay.
        output.appendEndToEndLines(of: fields, hopByHop: .afterNominations) { known in
            switch known {
            case .host, .contentLength, .transferEncoding, .proxyAuthorization, .proxy, .proxyConnection, .maxForwards: true
            case .range, .ifRange: asksForWhole
            // RFC 9110 §10.1.1: an expectation in HTTP/1.0 is ignored.
            case .expect: isBodyAtHand || !request.version.isAtLeast11
            default: false
            }
        }
        writeMaxForwards(into: &output)
        if isForSwitch { ProtocolSwitch.writeLines(into: &output) }
        output.append(addingCapacity: context.viaLineLength) { context.writeVia(for: request.version, into: &$0) }
        switch body {
        case .none: break
        case .known(let length): output.appendContentLength(length)
        case .unknown: output.append("Transfer-Encoding: chunked\r\n")
        }
        output.append("\r\n")
    }

    private func writeRequestLine(into output: inout [UInt8]) {
        output.append(request.span(of: request.methodName))
        output.append(ASCII.space)
        let target = request.target
        if target.form == .asterisk {
            output.append("*")
        } else {
            if target.path.isEmpty, target.query.isEmpty, request.method == .options {
                // RFC 9112 §3.2.4: an OPTIONS target in absolute form without a path is sent as `*`.
                output.append("*")
            } else {
                if target.path.isEmpty { output.append(ASCII.slash) }
                output.append(request.span(of: target.path))
                output.append(request.span(of: target.query))
            }
        }
        output.append(" HTTP/1.1\r\n")
    }

    private func writeAuthority(into output: inout [UInt8]) {
        let target = request.target
        let isBracketed = target.hostKind == .ipv6
        if isBracketed { output.append(0x5B) }
        output.append(request.span(of: target.host))
        if isBracketed { output.append(0x5D) }
        let defaultPort: UInt16 =
            switch target.scheme {
            case .http: 80
            case .https: 443
            }
        if target.port != defaultPort {
            output.append(ASCII.colon)
            output.append(decimal: UInt64(target.port))
        }
    }

    /// Max-Forwards is decremented for OPTIONS and TRACE. For other methods it has no meaning and is forwarded (RFC 9110 §7.6.2).
    private func writeMaxForwards(into output: inout [UInt8]) {
        guard let line = fields.first(.maxForwards) else { return }
        guard request.method == .options || request.method == .trace, let hops = MaxForwards.value(in: fields) else {
            fields.write(line, into: &output)
            return
        }
        output.append("Max-Forwards: ")
        output.append(decimal: hops - 1)
        output.append("\r\n")
    }
}
