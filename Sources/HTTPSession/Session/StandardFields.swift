import HTTPMessage
import HTTPSerialization

/// The fields of requests that have none of their own, made once for a session.
struct StandardFields: Sendable {
    private let fields: HTTPFields
    /// With the codings that the session takes off; `nil` where it takes off none.
    private let decoding: HTTPFields?
    private let decodesContent: Bool
    /// Of a request without fields of its own, as they are sent; `nil` where they cannot be, which is told when it is tried.
    let lines: [UInt8]?

    init(_ configuration: SessionConfiguration) {
        fields = configuration.defaultFields
        decodesContent = configuration.decodesContent
        decoding = Self.askingForCodings(fields, decodesContent)
        lines = Self.lines(of: decoding ?? fields)
    }

    private static func lines(of fields: HTTPFields) -> [UInt8]? {
        do throws(SessionError) { try fields.checkForSending() } catch { return nil }
        var lines: [UInt8] = []
        fields.writeLines(into: &lines)
        return lines
    }

    /// With these in the place of those with the same names.
    /// - Returns: besides, whether codings are the session's affair.
    func overridden(by others: HTTPFields) -> (HTTPFields, decodesContent: Bool) {
        if others.isEmpty { return (decoding ?? fields, decoding != nil) }
        var fields = fields
        fields.override(with: others)
        guard let decoding = Self.askingForCodings(fields, decodesContent) else { return (fields, false) }
        return (decoding, true)
    }

    private static func askingForCodings(_ fields: HTTPFields, _ decodesContent: Bool) -> HTTPFields? {
        guard decodesContent, !fields.contains(.acceptEncoding), !fields.contains(.range) else { return nil }
        var fields = fields
        fields.append("Accept-Encoding", ContentDecoder.acceptEncoding)
        return fields
    }
}
