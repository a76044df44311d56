import HTTPMessage

/// Whether the Host field names another authority than the target does (T17). The target always decides where a request goes
/// (RFC 9112 §3.2.2); a setting may refuse such a request altogether.
enum HostComparison {
    static func mismatches(_ request: RequestHead) -> Bool {
        guard request.target.form == .absolute, let line = request.fields.first(.host) else { return false }
        let bytes = request.fields.bytes.span
        do throws(AuthorityFault) {
            let authority = try Authority(parsing: line.value.range, in: bytes)
            let samePort = (authority.port ?? 80) == request.target.port
            let sameHost = request.span(of: authority.host).equalsIgnoringCase(request.span(of: request.target.host))
            return !samePort || !sameHost
        } catch {
            return true
        }
    }
}
