import HTTPMessage

extension RequestHead {
    /// Turns the client's request into a GET for the whole response, and removes fields that do not apply to the store.
    mutating func becomeWholeGET() {
        if method == .head {
            methodName = fields.appendBytes(Array("GET".utf8).span)
            method = .get
        }
        fields.remove { _, line in
            switch line.known {
            case .range, .ifRange, .ifNoneMatch, .ifModifiedSince, .cacheControl, .pragma, .contentLength: true
            default: false
            }
        }
    }
}

extension ResponseHead {
    /// Whether the status describes the current resource, or says that it is gone. A status that depends on the client, on its request rate
    /// or on its input does neither.
    var isOfAnotherRepresentation: Bool {
        switch status.code {
        case 304: false
        case 200...399, 404, 410: true
        default: false
        }
    }
}
