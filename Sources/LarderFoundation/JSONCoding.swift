public import Foundation
public import HTTPSerialization

/// The encoder and the decoder of JSON, with their strategies for names, dates and data.
public struct JSONCoding: Sendable {
    private let makeEncoder: @Sendable () -> JSONEncoder
    private let makeDecoder: @Sendable () -> JSONDecoder

    /// The strategies of a new `JSONEncoder` and a new `JSONDecoder`.
    public init() { self.init { _, _ in } }

    /// The coding that a closure sets up. The closure gets a new encoder and a new decoder for each value.
    public init(_ setUp: @escaping @Sendable (JSONEncoder, JSONDecoder) -> Void) {
        makeEncoder = {
            let encoder = JSONEncoder()
            setUp(encoder, JSONDecoder())
            return encoder
        }
        makeDecoder = {
            let decoder = JSONDecoder()
            setUp(JSONEncoder(), decoder)
            return decoder
        }
    }

    /// Names in snake case, and dates in ISO 8601.
    public static let snakeCase = JSONCoding { encoder, decoder in
        encoder.keyEncodingStrategy = .convertToSnakeCase
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        encoder.dateEncodingStrategy = .iso8601
        decoder.dateDecodingStrategy = .iso8601
    }

    func octets(of value: some Encodable) throws -> [UInt8] { [UInt8](try makeEncoder().encode(value)) }

    func value<Value: Decodable>(_ type: Value.Type, from octets: [UInt8]) throws -> Value {
        try makeDecoder().decode(type, from: Data(octets))
    }
}

/// Decodes JSON content by Foundation's `JSONDecoder`.
public struct JSONDecoderSerializer<Output: Decodable & Sendable>: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation
    private let coding: JSONCoding

    /// A serializer for this type.
    public init(_ type: Output.Type = Output.self, coding: JSONCoding = JSONCoding(), validation: ResponseValidation = .json) {
        self.coding = coding
        self.validation = validation
    }

    /// Empty content yields null, which an optional type accepts.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> Output {
        do {
            return try coding.value(Output.self, from: body.isEmpty ? Array("null".utf8) : body)
        } catch let error as DecodingError {
            throw ResponseFault(error, in: body)
        } catch {
            throw ResponseFault(.otherType, "\(error)")
        }
    }
}

/// Returns the content as `Data`.
public struct DataSerializer: ResponseSerializer {
    /// The accepted statuses and types.
    public var validation: ResponseValidation

    /// A serializer for these statuses and types.
    public init(validation: ResponseValidation = ResponseValidation()) { self.validation = validation }

    /// The content unchanged.
    public func decode(_ body: [UInt8], of head: ReceivedHead) throws(ResponseFault) -> Data { Data(body) }
}

extension ResponseFault {
    fileprivate init(_ error: DecodingError, in body: [UInt8]) {
        switch error {
        // `JSONDecoder` has no code of its own for malformed JSON.
        case .dataCorrupted(let context) where context.codingPath.isEmpty && (try? JSONValue(parsing: body)) == nil:
            self.init(.malformedJSON, context.debugDescription)
        case .dataCorrupted(let context), .typeMismatch(_, let context), .valueNotFound(_, let context),
            .keyNotFound(_, let context):
            let path = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
            self.init(.otherType, path.isEmpty ? context.debugDescription : "\(path): \(context.debugDescription)")
        @unknown default: self.init(.otherType, "\(error)")
        }
    }
}
