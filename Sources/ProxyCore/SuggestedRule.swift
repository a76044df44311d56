import HTTPMessage

/// The narrowest rule that would allow a request, for the client that was denied.
enum SuggestedRule {
    /// A longer path is left out: a rule of that length is none that a person would write.
    private static let pathLimit = 256

    /// One rule of the settings, as JSON, which is also YAML.
    static func text(allowing request: RequestHead) -> String {
        var output: [UInt8] = []
        output.append("{\"match\":{\"host\":\"")
        output.append(escapingForJSON: text(request.span(of: request.target.host)))
        output.append("\"")
        let isTunnel = request.method == .connect
        if isTunnel || request.target.port != request.target.scheme.defaultPort {
            output.append(",\"port\":")
            output.append(decimal: UInt64(request.target.port))
        }
        let path = request.span(of: request.target.path)
        if !isTunnel {
            output.append(",\"method\":\"")
            output.append(escapingForJSON: text(request.span(of: request.methodName)))
            output.append("\"")
            if path.count <= pathLimit {
                output.append(",\"path\":\"")
                output.append(escapingForJSON: path.isEmpty ? "/" : text(path))
                output.append("\"")
            }
        }
        output.append("},\"allow\":{}}")
        return String(decoding: output, as: UTF8.self)
    }

    private static func text(_ span: Span<UInt8>) -> String {
        span.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
    }
}
