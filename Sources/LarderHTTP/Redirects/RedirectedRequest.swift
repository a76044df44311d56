import HTTPMessage

extension PreparedRequest {
    /// The request that follows a redirect; `nil` if the response is not a redirect, because it has another status or not
    /// exactly one Location.
    func redirected(by head: ResponseChannel.Head) throws(SessionError) -> PreparedRequest? {
        guard [301, 302, 303, 307, 308].contains(head.status.code), head.fields.lineCount(of: .location) == 1,
            let line = head.fields.first(.location)
        else { return nil }
        let target: TargetURI
        do throws(TargetURI.Fault) {
            target = try uri.resolving(head.fields.text(of: line.value))
        } catch { throw SessionError(.redirectRefused, "the target of the redirect is not a valid http or https URI (\(error))") }
        let isRewritten = rewritesMethod(head.status)
        var fields = fields
        if isRewritten { fields.removeContentFields() }
        if !target.isSameOrigin(as: uri) { fields.removeOriginsOwn() }
        return with(
            method: isRewritten ? .get : nil, uri: target.inheritingFragment(of: uri), fields: fields,
            body: isRewritten ? RequestBody.none : nil)
    }

    /// Whether the redirect changes the method to GET (RFC 9110 §15.4.2 to §15.4.4).
    private func rewritesMethod(_ status: Status) -> Bool {
        switch status.code {
        case 303: method != .get && method != .head
        case 301, 302: method == .post
        default: false
        }
    }
}

extension SessionFields {
    /// Removes the fields about content that is no longer sent (RFC 9110 §15.4).
    fileprivate mutating func removeContentFields() {
        for name in [
            "Content-Type", "Content-Encoding", "Content-Language", "Content-Location", "Content-Range", "Content-Digest",
            "Repr-Digest",
            "Digest", "Last-Modified",
        ] { remove(name) }
    }

    /// Removes the fields that are meant for one origin only.
    fileprivate mutating func removeOriginsOwn() {
        for name in ["Authorization", "Cookie", "Host", "Proxy-Authorization", "If-Range", "If-Match", "If-None-Match"] {
            remove(name)
        }
    }
}
