import HTTPMessage

extension Fields {
    /// Removes `Alt-Svc`, by which an origin names other ways to reach it (RFC 7838 §3).
    package mutating func removeAltSvc() {
        remove { fields, line in line.known == .other && fields.name(of: line).equalsIgnoringCase("alt-svc") }
    }
}
