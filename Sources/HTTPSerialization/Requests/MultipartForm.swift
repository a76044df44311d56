import Glibc
import HTTPMessage

/// A multipart form (RFC 7578): values, files, and other byte sources whose length is known before the first byte is read.
///
/// Names are escaped as browsers do, so that no name can end its field or begin another. The boundary has 128 random bits, so data
/// cannot contain it by accident.
public struct MultipartForm: Sendable {
    /// The content of a part.
    enum Source: Sendable {
        case octets([UInt8])
        case file(path: String)
        case pieces(make: @Sendable () throws -> () throws -> [UInt8]?)
    }

    struct Part: Sendable {
        /// The part's delimiter and header fields, with the empty line after them.
        let head: [UInt8]
        let source: Source
        let length: UInt64
        /// The name of the part, for error messages.
        let name: String
    }

    /// The boundary between the parts.
    public let boundary: String
    private(set) var parts: [Part] = []

    /// An empty form with a random boundary.
    public init() {
        var generator = SystemRandomNumberGenerator()
        let digits = [generator.next(), generator.next()].map { Hexadecimal.encode(padded: $0) }
        boundary = "larder-" + digits.joined()
    }

    /// - Parameter boundary: 1 to 70 of the characters that RFC 2046 §5.1.1 allows, except those that need quotes.
    /// - Throws: `malformedPart` for any other boundary.
    public init(boundary: String) throws(RequestSerializationError) {
        let isGood = (1...70).contains(boundary.utf8.count) && boundary.utf8.allSatisfy(ASCII.isTokenCharacter)
        guard isGood else { throw RequestSerializationError(.malformedPart, boundary) }
        self.boundary = boundary
    }

    /// Whether the form has no parts.
    public var isEmpty: Bool { parts.isEmpty }
    /// The value for the request's Content-Type.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }
    /// Length of the whole content, in bytes; 0 without parts.
    public var length: UInt64 {
        parts.isEmpty
            ? 0 : parts.reduce(UInt64(closing.count)) { $0 + UInt64($1.head.count) + $1.length + 2 }
    }

    var closing: [UInt8] { Array("--\(boundary)--\r\n".utf8) }

    // MARK: Parts

    /// Appends a text value.
    public mutating func append(_ name: String, _ value: String) {
        let octets = Array(value.utf8)
        add(name, source: .octets(octets), length: UInt64(octets.count), fields: [])
    }

    /// Appends parameters as text parts, named as in a form; null becomes an empty part.
    public mutating func append(_ parameters: JSONObject, options: FormEncodingOptions = FormEncodingOptions()) {
        for pair in FormEncoder(options).pairs(of: parameters) { append(pair.name, pair.value ?? "") }
    }

    /// Appends bytes in memory.
    /// - Parameters:
    ///   - name: the name of the form field.
    ///   - octets: the value of the form field.
    ///   - fileName: `nil` for a part that is not a file.
    ///   - contentType: `nil` for a part without Content-Type.
    ///   - fields: further header fields of the part.
    /// - Throws: `malformedPart` for an invalid field.
    public mutating func append(
        _ name: String, octets: [UInt8], fileName: String? = nil, contentType: String? = nil,
        fields: [(name: String, value: String)] = []
    ) throws(RequestSerializationError) {
        let fields = try Self.checked(contentType, fields)
        add(name, source: .octets(octets), length: UInt64(octets.count), fileName: fileName, fields: fields)
    }

    /// Appends a file, which is read piece by piece while the form is sent. Its length must not change until then.
    /// - Parameters:
    ///   - name: the name of the form field.
    ///   - path: the path of the file.
    ///   - fileName: the file name in the part; `nil`: the path's last component.
    ///   - contentType: the media type; `nil`: the type for the path's extension, or `application/octet-stream` for an unknown
    ///     extension.
    ///   - fields: further header fields of the part.
    /// - Throws: `unreadableFile`, `malformedPart`.
    public mutating func append(
        _ name: String, file path: String, fileName: String? = nil, contentType: String? = nil,
        fields: [(name: String, value: String)] = []
    ) throws(RequestSerializationError) {
        let file = try PartFile(path)
        let fields = try Self.checked(contentType ?? MediaTypeByExtension.type(ofPath: path), fields)
        let fileName = fileName ?? path.split(separator: "/").last.map(String.init) ?? path
        add(name, source: .file(path: path), length: file.length, fileName: fileName, fields: fields)
    }

    /// Appends content that a closure produces in pieces.
    /// - Parameters:
    ///   - name: the name of the form field.
    ///   - length: the length in bytes; the content must have exactly this length.
    ///   - fileName: `nil` for a part that is not a file.
    ///   - contentType: `nil` for a part without Content-Type.
    ///   - make: called each time the form is sent. Returns a function that returns the next piece, or `nil` at the end.
    public mutating func append(
        _ name: String, length: UInt64, fileName: String? = nil, contentType: String? = nil,
        pieces make: @escaping @Sendable () throws -> () throws -> [UInt8]?
    ) throws(RequestSerializationError) {
        let fields = try Self.checked(contentType, [])
        add(name, source: .pieces(make: make), length: length, fileName: fileName, fields: fields)
    }

    private mutating func add(
        _ name: String, source: Source, length: UInt64, fileName: String? = nil, fields: [(name: String, value: String)]
    ) {
        var head = "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(Self.escape(name))\""
        if let fileName { head += "; filename=\"\(Self.escape(fileName))\"" }
        head += "\r\n"
        for field in fields { head += "\(field.name): \(field.value)\r\n" }
        parts.append(Part(head: Array((head + "\r\n").utf8), source: source, length: length, name: name))
    }

    /// Escapes quotes and line ends in a name, as HTML specifies. All other characters stay unchanged, in UTF-8.
    static func escape(_ name: String) -> String {
        var escaped = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "\"": escaped += "%22"
            case "\r": escaped += "%0D"
            case "\n": escaped += "%0A"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func checked(
        _ contentType: String?, _ fields: [(name: String, value: String)]
    ) throws(RequestSerializationError) -> [(name: String, value: String)] {
        let all = (contentType.map { [(name: "Content-Type", value: $0)] } ?? []) + fields
        for field in all {
            let isGood = FieldName(field.name) != nil && field.value.utf8.allSatisfy(ASCII.isFieldValueCharacter)
            guard isGood else { throw RequestSerializationError(.malformedPart, field.name) }
        }
        return all
    }
}
