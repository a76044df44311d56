import HTTPMessage

extension ResponseValidation {
    /// The media types of JSON: AFNetworking's three types, and every type that ends in `+json` (RFC 6839 §3.1).
    public static let json = ResponseValidation(
        contentTypes: ["application/json", "text/json", "text/javascript", "*/*+json"])
}

/// Decodes content as a JSON value that keeps digits and order.
public struct JSONValueSerializer: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation
    /// Options for parsing the text.
    public var options: JSONParseOptions
    /// Bytes such as `)]}',` that some servers send before their JSON, so that the JSON cannot run as a script. Content without
    /// them is accepted too.
    public var skippedPrefix: [UInt8]

    /// A serializer with these options.
    public init(
        _ options: JSONParseOptions = JSONParseOptions(), skippedPrefix: String = "", validation: ResponseValidation = .json
    ) {
        self.options = options
        self.skippedPrefix = Array(skippedPrefix.utf8)
        self.validation = validation
    }

    /// A serializer that removes all nulls if `stripsNulls` is `true`.
    public init(stripsNulls: Bool) { self.init(JSONParseOptions(removesNulls: stripsNulls ? .everywhere : .never)) }

    /// Empty content and a single space yield null: some servers send them for an empty response.
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

/// Decodes JSON content as a value of a `Decodable` type.
public struct DecodableSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    /// The serializer that parses the text to a JSON value.
    public var json: JSONValueSerializer
    /// The decoder that makes the value from the JSON value.
    public var decoder: JSONValueDecoder
    /// The accepted statuses and types.
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

    /// A serializer for this type, with a decoder such as `.usual`.
    public init(
        _ type: Output.Type = Output.self, decoder: JSONValueDecoder, json: JSONValueSerializer = JSONValueSerializer()
    ) {
        self.json = json
        self.decoder = decoder
    }

    /// Empty content yields null, which an optional type accepts.
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
