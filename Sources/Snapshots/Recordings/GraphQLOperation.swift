import HTTPMessage
import HTTPSerialization
import SecretScanning

extension Snapshot {
    /// The name of the GraphQL operation that a recording asked for (graphql-over-http, "Request parameters").
    /// - Returns: `nil` for anything else.
    package func operationName(of recording: Recording) throws(SnapshotError) -> String? {
        guard MediaKind(of: recording.request.fields) == .json, let body = recording.request.body, body.isKept,
            body.length <= 64 << 10
        else { return nil }
        // What is no JSON names nothing.
        guard let value = try? JSONValue(parsing: try octets(of: body)), value["query"]?.string != nil else { return nil }
        return value["operationName"]?.string
    }
}
