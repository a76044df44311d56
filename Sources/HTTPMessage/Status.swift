/// A response's status code (RFC 9110 §15).
package struct Status: Equatable, Hashable, Sendable {
    package let code: UInt16

    package init(_ code: UInt16) { self.code = code }

    package static let switchingProtocols = Status(101)
    package static let earlyHints = Status(103)
    package static let ok = Status(200)
    package static let partialContent = Status(206)
    package static let notModified = Status(304)

    package var isInformational: Bool { code < 200 }
    package var isSuccessful: Bool { code >= 200 && code < 300 }

    /// The reason phrase for status lines that Larder itself writes (RFC 9112 §4). Empty for a status code that is not listed.
    package var reasonPhrase: StaticString {
        switch code {
        case 100: "Continue"
        case 103: "Early Hints"
        case 200: "OK"
        case 204: "No Content"
        case 206: "Partial Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 407: "Proxy Authentication Required"
        case 408: "Request Timeout"
        case 411: "Length Required"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 416: "Range Not Satisfiable"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        case 508: "Loop Detected"
        default: ""
        }
    }
}
