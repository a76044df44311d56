/// Something that is given bytes of every kind and has to keep its word about all of them.
package struct FuzzTarget: Sendable {
    /// The name by which `run.sh` and the corpus's folder know it.
    package let name: String
    /// Says what went wrong, or `nil`. What crashes or hangs goes wrong too.
    package let check: @Sendable ([UInt8]) -> String?

    package init(_ name: String, check: @escaping @Sendable ([UInt8]) -> String?) {
        self.name = name
        self.check = check
    }

    /// Every target: one line for each file of this folder that makes one.
    package static let all: [FuzzTarget] = [
        .requestParser,
        .responseParser,
        .responseValue,
        .chunkedDecoder,
        .clientHello,
        .http2Server,
        .http2Client,
        .webSocket,
        .serverSentEvents,
        .fieldValues,
        .rules,
        .globs,
        .pathReadings,
        .policyDiff,
        .squidImport,
        .pinFiles,
        .certificates,
        .settings,
        .jsonValue,
        .xml,
        .propertyList,
        .imageHeaders,
        .multipart,
        .codings,
        .digests,
        .cookies,
        .challenges,
        .text,
        .transforms,
        .resp,
        .sharedEntries,
    ]
}
