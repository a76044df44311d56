import HTTPMessage
import HTTPSerialization
import SecretScanning

extension Snapshot {
    /// The name of the GraphQL operation in a recording's request (graphql-over-http, "Request parameters").
    /// - Returns: `nil` if the request is not such an operation.
    package func operationName(of recording: Recording) throws(SnapshotError) -> String? {
        guard MediaKind(of: recording.request.fields) == .json, let body = recording.request.body, body.isKept,
            body.length <= 64 << 10
        else { return nil }
        // A body that is not JSON names no operation.
        guard let value = try? JSONValue(parsing: try octets(of: body)), value["query"]?.string != nil else { return nil }
        return value["operationName"]?.string
    }
}
