import Glibc
import HTTPMessage

/// A form of parts (RFC 7578): values, files, and whatever else gives bytes, of a length that is known before the first is read.
///
/// Names are escaped as browsers do it, so that no name ends its field or begins another. The boundary is 128 bits of chance, which no data
/// holds that was not made from it.
public struct MultipartForm: Sendable {
    /// What a part holds.
    enum Source: Sendable {
        case octets([UInt8])
        case file(path: String)
        case pieces(make: @Sendable () throws -> () throws -> [UInt8]?)
    }

    struct Part: Sendable {
        /// From the delimiter to the empty line.
        let head: [UInt8]
        let source: Source
        let length: UInt64
        /// For messages.
        let name: String
    }

    /// What stands between the parts.
    public let boundary: String
    private(set) var parts: [Part] = []

    /// A form without parts, with a boundary made by chance.
    public init() {
        var generator = SystemRandomNumberGenerator()
        let digits = [generator.next(), generator.next()].map { Hexadecimal.encode(padded: $0) }
        boundary = "larder-" + digits.joined()
    }

    /// - Parameter boundary: 1 to 70 of the characters that RFC 2046 §5.1.1 permits, other than those that need quotes.
    /// - Throws: `malformedPart` for any other.
    public init(boundary: String) throws(RequestSerializationError) {
        let isGood = (1...70).contains(boundary.utf8.count) && boundary.utf8.allSatisfy(ASCII.isTokenCharacter)
        guard isGood else { throw RequestSerializationError(.malformedPart, boundary) }
        self.boundary = boundary
    }

    /// Whether there is no part.
    public var isEmpty: Bool { parts.isEmpty }
    /// For the request's Content-Type.
    public var contentType: String { "multipart/form-data; boundary=\(boundary)" }
    /// Of the whole content, in bytes; nothing without parts.
    public var length: UInt64 {
        parts.isEmpty
            ? 0 : parts.reduce(UInt64(closing.count)) { $0 + UInt64($1.head.count) + $1.length + 2 }
    }

    var closing: [UInt8] { Array("--\(boundary)--\r\n".utf8) }

    // MARK: Parts

    /// A value as text.
    public mutating func append(_ name: String, _ value: String) {
        let octets = Array(value.utf8)
        add(name, source: .octets(octets), length: UInt64(octets.count), fields: [])
    }

    /// Parameters as parts of text, named as in a form; a null is an empty part.
    public mutating func append(_ parameters: JSONObject, options: FormEncodingOptions = FormEncodingOptions()) {
        for pair in FormEncoder(options).pairs(of: parameters) { append(pair.name, pair.value ?? "") }
    }

    /// Bytes in memory.
    /// - Parameters:
    ///   - name: of the field.
    ///   - octets: its value.
    ///   - fileName: `nil` for a part that is no file.
    ///   - contentType: `nil` says nothing of it.
    ///   - fields: more fields of the part.
    /// - Throws: `malformedPart` for a field that is none.
    public mutating func append(
        _ name: String, octets: [UInt8], fileName: String? = nil, contentType: String? = nil,
        fields: [(name: String, value: String)] = []
    ) throws(RequestSerializationError) {
        let fields = try Self.checked(contentType, fields)
        add(name, source: .octets(octets), length: UInt64(octets.count), fileName: fileName, fields: fields)
    }

    /// A file, read piece by piece while the form is sent. It has to keep its length until then.
    /// - Parameters:
    ///   - name: of the field.
    ///   - path: of the file.
    ///   - fileName: the path's last component where it is not given.
    ///   - contentType: by the path's extension where it is not given, and `application/octet-stream` for one that is not known.
    ///   - fields: more fields of the part.
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

    /// What somebody else gives in pieces.
    /// - Parameters:
    ///   - name: of the field.
    ///   - length: in bytes; it has to come to that, and no more.
    ///   - fileName: `nil` for a part that is no file.
    ///   - contentType: `nil` says nothing of it.
    ///   - make: begins to read anew, for each time that the form is sent; the function that it returns gives `nil` at the end.
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

    /// As HTML says: quotes and the ends of lines are escaped, and everything else stands as it is in UTF-8.
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
