import CLarderOpenSSL
import Foundation
import Glibc
import LarderSettings
import ServerTrust

/// What a judgement costs beside OpenSSL's own verification of the same chain of three, in turns; and what settings with many pins cost.
/// `TrustBench VECTORS [ROUNDS]`, VECTORS being Tests/TrustVectors/vectors.json, or a file like it with certificates `leaf`,
/// `middle` and `root`. What cannot be measured ends the program.
enum TrustBench {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 1 else { fatalError("TrustBench VECTORS [ROUNDS]") }
        let rounds = arguments.count > 2 ? Int(arguments[2]) ?? 2000 : 2000
        let chains = try Chains(file: arguments[1])
        let bare = BareVerification(chain: ["leaf", "middle"].map(chains.der), anchor: chains.der("root"), at: Chains.now)
        print("chain of three    X509_verify_cert     evaluate     ratio  (CPU, medians of 21 runs of \(rounds))")
        for (name, pins) in [("no pins", nil), ("pinned", try chains.pins(of: "leaf"))] {
            let policy = try chains.policy(pins: pins)
            let evidence = ServerEvidence(chain: ["leaf", "middle"].map(chains.der))
            let now = POSIXTime(seconds: Int64(Chains.now))
            var bareTimes: [Double] = []
            var times: [Double] = []
            for _ in 0..<21 {
                bareTimes.append(microseconds(rounds) { precondition(bare.verify()) })
                times.append(
                    try microseconds(rounds) {
                        let verdict = try policy.evaluate(evidence, host: "good.example.com", at: now)
                        precondition(verdict.chain.count == 3)
                    })
            }
            let (bareTime, time) = (bareTimes.sorted()[10], times.sorted()[10])
            print(
                name.padding(toLength: 16, withPad: " ", startingAt: 0)
                    + String(format: "%15.1f µs %9.1f µs %9.2f", bareTime, time, time / bareTime))
        }
        try measurePins(anchor: chains.der("root"))
    }

    /// Settings with 10,000 pins, from their text to the policies: all of one host, ten for each of a thousand, and a file for each of
    /// these.
    private static func measurePins(anchor: [UInt8]) throws {
        let texts = (0..<10_000).map { number in
            let octets = (0..<32).map { UInt8(truncatingIfNeeded: number >> ($0 % 4 * 8)) &+ UInt8($0) }
            return "sha256/" + Data(octets).base64EncodedString()
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "larder-\(UUID().uuidString)")
        let included = folder.appending(path: "pins.d")
        try FileManager.default.createDirectory(at: included, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // what is left over is in the temporary folder
        let bundle = folder.appending(path: "root.pem")
        let base64 = Data(anchor).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        try Data("-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n".utf8).write(to: bundle)
        let hosts = (0..<1000).map { number in
            "host\(number).example: {pins: {of: [\(texts[(number * 10)..<(number * 10 + 10)].joined(separator: ", "))]}}\n"
        }
        for (number, host) in hosts.enumerated() { try Data(host.utf8).write(to: included.appending(path: "\(number).yaml")) }
        let settings = [
            ("one host", "tls: {hosts: {a.example: {pins: {of: [\(texts.joined(separator: ", "))]}}}}"),
            ("1000 hosts", "tls:\n  hosts:\n" + hosts.map { "    " + $0 }.joined()), ("1000 files", "tls: {pins_from: pins.d}"),
        ]
        let files = TrustFiles(systemBundles: [bundle.path])
        for (name, text) in settings {
            let times = try (0..<21).map { _ in
                try microseconds(1) {
                    let layer = SettingsLayer(name: "larder.yaml", root: try YAMLReader.read(text), folder: folder.path)
                    guard case .settings(let settings) = SettingsReader.read([layer], trustFiles: files) else {
                        fatalError("the settings are not read")
                    }
                    precondition(settings.tls.loaded != nil)
                }
            }
            print(String(format: "10,000 pins in settings, \(name): %.1f ms", times.sorted()[10] / 1000))
        }
    }

    /// CPU of this thread for one round.
    private static func microseconds(_ rounds: Int, _ work: () throws -> Void) rethrows -> Double {
        let start = cpu()
        for _ in 0..<rounds { try work() }
        return (cpu() - start) / Double(rounds)
    }

    private static func cpu() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1_000_000 + Double(time.tv_nsec) / 1000
    }
}

/// The certificates of the vectors.
private struct Chains {
    static let now = 1_780_272_000

    private let certificates: [String: Data]

    private struct File: Decodable { let certificates: [String: Data] }

    init(file: String) throws {
        certificates = try JSONDecoder().decode(File.self, from: Data(contentsOf: URL(filePath: file))).certificates
    }

    func der(_ label: String) -> [UInt8] { Array(certificates[label]!) }

    func policy(pins: PinSet?) throws -> TrustPolicy {
        try TrustPolicy(anchors: .given(TrustAnchors([Certificate(der: der("root"))!])), pins: pins)
    }

    func pins(of label: String) throws -> PinSet {
        try PinSet(.publicKey, [Pin(publicKeyDigest: Certificate(der: der(label))!.publicKeyDigest)])
    }
}

/// What a C program does: one store, and a context for each verification.
private struct BareVerification {
    private let store: OpaquePointer
    private let leaf: OpaquePointer
    private let others: OpaquePointer
    private let now: Int

    init(chain: [[UInt8]], anchor: [UInt8], at now: Int) {
        store = X509_STORE_new()!
        X509_STORE_add_cert(store, Self.read(anchor))
        leaf = Self.read(chain[0])
        others = copenssl_certificates_new()!
        for certificate in chain.dropFirst() { copenssl_certificates_push(others, Self.read(certificate)) }
        self.now = now
    }

    private static func read(_ der: [UInt8]) -> OpaquePointer {
        der.withUnsafeBufferPointer { bytes in
            var next = bytes.baseAddress
            return d2i_X509(nil, &next, bytes.count)!
        }
    }

    func verify() -> Bool {
        let context = X509_STORE_CTX_new()
        defer { X509_STORE_CTX_free(context) }
        guard X509_STORE_CTX_init(context, store, leaf, others) == 1 else { return false }
        X509_STORE_CTX_set_purpose(context, X509_PURPOSE_SSL_SERVER)
        X509_VERIFY_PARAM_set_time(X509_STORE_CTX_get0_param(context), now)
        return X509_verify_cert(context) == 1
    }
}
