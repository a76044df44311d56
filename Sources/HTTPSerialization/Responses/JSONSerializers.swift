import HTTPMessage

extension ResponseValidation {
    /// What JSON is sent as: AFNetworking's three types, and every `+json` (RFC 6839 §3.1).
    public static let json = ResponseValidation(
        contentTypes: ["application/json", "text/json", "text/javascript", "*/*+json"])
}

/// The content as a JSON value that keeps digits and order.
public struct JSONValueSerializer: ResponseSerializer {
    /// What the head has to say.
    public var validation: ResponseValidation
    /// How the text is read.
    public var options: JSONParseOptions
    /// Bytes that some servers send before their JSON, so that it is no script, such as `)]}',`. Content without them is read too.
    public var skippedPrefix: [UInt8]

    /// A serializer that reads so.
    public init(
        _ options: JSONParseOptions = JSONParseOptions(), skippedPrefix: String = "", validation: ResponseValidation = .json
    ) {
        self.options = options
        self.skippedPrefix = Array(skippedPrefix.utf8)
        self.validation = validation
    }

    /// Without nulls wherever they stand.
    public init(stripsNulls: Bool) { self.init(JSONParseOptions(removesNulls: stripsNulls ? .everywhere : .never)) }

    /// No content, and a single space, are null: there are servers that send one to say nothing.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> JSONValue {
        if body.isEmpty || body == [ASCII.space] { return .null }
        let skipped = !skippedPrefix.isEmpty && body.starts(with: skippedPrefix) ? skippedPrefix.count : 0
        do throws(JSONParseError) {
            return try JSONValue(parsing: body[skipped...], options: options)
        } catch {
            throw ResponseFault(
                error.reason == .tooLarge || error.reason == .tooDeep ? .tooLarge : .malformedJSON, error.description,
                at: error.offset + skipped)
        }
    }
}

/// The content as a value of a `Decodable` type, read from JSON.
public struct DecodableSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    /// What reads the text.
    public var json: JSONValueSerializer
    /// What decodes the value.
    public var decoder: JSONValueDecoder
    /// What the head has to say.
    public var validation: ResponseValidation {
        get { json.validation }
        set { json.validation = newValue }
    }

    /// A serializer for this type.
    public init(
        _ type: Output.Type = Output.self, names: JSONNameStrategy = .asGiven, json: JSONValueSerializer = JSONValueSerializer()
    ) {
        self.json = json
        decoder = JSONValueDecoder(names: names)
    }

    /// No content is null, which an optional type takes.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> Output {
        let value = try json.decode(body, of: head)
        do {
            return try decoder.decode(Output.self, from: value)
        } catch let error as DecodingError {
            throw ResponseFault(.otherType, Self.describe(error))
        } catch {
            throw ResponseFault(.otherType, "\(error)")
        }
    }

    private static func describe(_ error: DecodingError) -> String {
        let context: DecodingError.Context
        switch error {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .keyNotFound(_, let found), .dataCorrupted(let found):
            context = found
        @unknown default: return "\(error)"
        }
        let path = context.codingPath.map(\.stringValue).joined(separator: ".")
        return (path.isEmpty ? "" : path + ": ") + context.debugDescription
    }
}
