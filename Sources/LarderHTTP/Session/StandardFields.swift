import HTTPMessage
import HTTPSerialization

/// The fields of requests without fields of their own, built once for each session.
struct StandardFields: Sendable {
    private let fields: SessionFields
    /// The fields with Accept-Encoding for the codings that the session decodes; `nil` if it decodes none.
    private let decoding: SessionFields?
    private let decodesContent: Bool
    /// The encoded lines of a request without fields of its own; `nil` if they are invalid, which is reported when a request is sent.
    let lines: [UInt8]?

    init(_ configuration: SessionConfiguration) {
        fields = configuration.defaultFields
        decodesContent = configuration.decodesContent
        decoding = Self.askingForCodings(fields, decodesContent)
        lines = Self.lines(of: decoding ?? fields)
    }

    private static func lines(of fields: SessionFields) -> [UInt8]? {
        do throws(SessionError) { try fields.checkForSending() } catch { return nil }
        var lines: [UInt8] = []
        fields.writeLines(into: &lines)
        return lines
    }

    /// The standard fields and the fields in `others`, which replace standard fields of the same names.
    /// - Parameter decodes: the request's own choice; if `true`, codings are also decoded that the request itself lists.
    /// - Returns: the fields, and whether the session decodes content codings.
    func overridden(by others: SessionFields, decoding decodes: Bool? = nil) -> (SessionFields, decodesContent: Bool) {
        if others.isEmpty, decodes == nil { return (decoding ?? fields, decoding != nil) }
        var fields = fields
        fields.override(with: others)
        guard let decoding = Self.askingForCodings(fields, decodes ?? decodesContent) else { return (fields, decodes == true) }
        return (decoding, true)
    }

    private static func askingForCodings(_ fields: SessionFields, _ decodesContent: Bool) -> SessionFields? {
        guard decodesContent, !fields.contains(.acceptEncoding), !fields.contains(.range) else { return nil }
        var fields = fields
        fields.append("Accept-Encoding", ContentDecoder.acceptEncoding)
        return fields
    }
}
