import HTTPMessage

/// The request as echoed by TRACE (RFC 9110 §9.3.8), without fields that carry credentials.
enum TraceEcho {
    static func write(_ request: RequestHead, into output: inout [UInt8]) {
        output.append(request.span(of: request.methodName))
        output.append(ASCII.space)
        output.append(request.span(of: request.rawTarget))
        output.append(" HTTP/1.1\r\n")
        for line in request.fields.lines {
            switch line.known {
            case .authorization, .proxyAuthorization, .cookie: continue
            default: request.fields.write(line, into: &output)
            }
        }
        output.append("\r\n")
    }
}
