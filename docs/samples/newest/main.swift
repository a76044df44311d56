import Foundation
import HTTPSerialization
import LarderHTTP
import ResponseStore
import ServerTrust

struct Release: Decodable, Sendable {
    let name: String
    let file: String
}

/// Asks a JSON API, whose key is pinned, for its newest release, and fetches that.
func newest(base: String, pin: String, anchors: String, folder: String) async throws {
    let policy = try TrustPolicy(
        anchors: .given(TrustAnchors(pem: Array(Data(contentsOf: URL(filePath: anchors))))),
        pins: PinSet(.publicKey, [Pin(pin)]))
    var configuration = SessionConfiguration()
    configuration.base = try TargetURI(base)
    let cache = try FileResponseCache(path: folder + "/answers.sqlite", capacity: 64 << 20)
    defer { cache.close() }
    configuration.cache = cache
    configuration.retries.limit = 4
    configuration.retries.delay = .milliseconds(100)
    let session = try HTTPSession(
        configuration: configuration, trust: .policies(TrustPolicySet([], fallback: .policy(policy))))

    let release = try await session.value(SessionRequest(.get, "newest"), as: DecodableSerializer<Release>())
    let transfer = Transfer()
    let telling = Task {
        for await step in transfer.progress {
            FileHandle.standardError.write(Data("\(Int(100 * (step.fractionReceived ?? 0))) %\n".utf8))
        }
    }
    let file = try await session.download(SessionRequest(.get, release.file), to: .folder(folder), as: transfer)
    await telling.value
    print("\(release.name): \(file.length) bytes in \(file.path)")
    await session.shutdown(.drain(deadline: .seconds(1)))
}

let arguments = CommandLine.arguments
guard arguments.count == 5 else {
    FileHandle.standardError.write(Data("newest BASE PIN ANCHORS.pem FOLDER\n".utf8))
    exit(2)
}
do {
    try await newest(base: arguments[1], pin: arguments[2], anchors: arguments[3], folder: arguments[4])
} catch {
    FileHandle.standardError.write(Data("failed: \(error)\n".utf8))
    exit(1)
}
