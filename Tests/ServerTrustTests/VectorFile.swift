import Foundation
import ServerTrust
import Testing

/// The contents of Tests/TrustVectors/vectors.json, which make.py in the same folder writes.
struct VectorFile: Decodable, Sendable {
    let certificates: [String: Data]
    let lists: [String: Data]
    let responses: [String: Data]
    /// The SHA-256 digests of some certificates' keys in base64, computed by Python.
    let keyDigests: [String: String]
    let vectors: [Vector]

    struct Vector: Decodable, Sendable, CustomTestStringConvertible {
        let about: String
        let chain: [String]
        let host: String
        let at: Int64
        let policy: Policy
        let expect: String
        let depth: Int?
        let pin: String?
        let verified: [String]?
        let allowed: [String]?
        let reported: String?
        let staple: String?
        let timestamps: Data?
        let tls: String?
        let counted: Int?
        let listed: [String]?

        var testDescription: String { about }
    }

    struct Policy: Decodable, Sendable {
        let anchors: Anchors
        let pins: Pins?
        let validatesHost: Bool?
        let allowUntrustedRoot: Bool?
        let allowExpired: Bool?
        let tlsFloor: String?
        let rsa: Int?
        let ec: Int?
        let refused: [String]?
        let lists: [String]?
        let listCheck: String?
        let stapleCheck: String?
        let auditTimestamps: Bool?
    }

    enum Anchors: Decodable, Sendable {
        case pins
        case certificates([String])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            self = if let names = try? container.decode([String].self) { .certificates(names) } else { .pins }
        }
    }

    struct Pins: Decodable, Sendable {
        let mode: String
        let of: [String]
        let enforcement: String?
        let enforcedFrom: Int64?
        let expires: Int64?
        let onExpiry: String?
    }

    static let shared: VectorFile = {
        let file = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appending(path: "TrustVectors/vectors.json")
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        // The tests need the file.
        return try! decoder.decode(VectorFile.self, from: Data(contentsOf: file))
    }()
}

// MARK: - What a vector's labels stand for

extension VectorFile {
    /// The certificate with that label, which every vector's labels must have.
    func der(_ label: String) -> [UInt8] { Array(certificates[label]!) }

    func certificate(_ label: String) throws -> Certificate {
        guard let certificate = Certificate(der: der(label)) else { throw Unreadable(label: label) }
        return certificate
    }

    struct Unreadable: Error { let label: String }

    func evidence(of vector: Vector) -> ServerEvidence {
        ServerEvidence(
            chain: vector.chain.map(der), stapledResponse: vector.staple.map { Array(responses[$0]!) },
            signedTimestamps: vector.timestamps.map(Array.init), tlsVersion: vector.tls.map(Self.version))
    }

    func policy(of vector: Vector) throws -> TrustPolicy {
        let policy = vector.policy
        let pins = try policy.pins.map(pins)
        let anchors: TrustPolicy.Anchors =
            switch policy.anchors {
            case .pins: .pins
            case .certificates(let labels): .given(try TrustAnchors(labels.map(certificate)))
            }
        let revocation = try Revocation(
            lists: policy.lists.map { labels in try RevocationLists(labels.map { Array(lists[$0]!) }) },
            listCheck: Self.check(policy.listCheck), stapleCheck: Self.check(policy.stapleCheck))
        return try TrustPolicy(
            anchors: anchors, pins: pins, validatesHost: policy.validatesHost ?? true,
            allowsUntrustedRoot: policy.allowUntrustedRoot ?? false, allowsExpired: policy.allowExpired ?? false,
            minimumTLSVersion: policy.tlsFloor.map(Self.version) ?? .tls12,
            minimumKeySizes: KeySizes(
                rsa: policy.rsa ?? KeySizes.usual.rsa, ellipticCurve: policy.ec ?? KeySizes.usual.ellipticCurve),
            refusedDigests: Set(policy.refused?.map(Self.digest) ?? [.md5, .sha1]), revocation: revocation,
            auditsSignedTimestamps: policy.auditTimestamps ?? false)
    }

    private func pins(_ pins: Pins) throws -> PinSet {
        let enforcement: PinSet.Enforcement =
            if let start = pins.enforcedFrom { .enforcedFrom(POSIXTime(seconds: start)) } else {
                pins.enforcement == "reported" ? .reported : .enforced
            }
        return try PinSet(
            pins.mode == "certificate" ? .certificate : .publicKey, try pins.of.map(pin), enforcement: enforcement,
            expires: pins.expires.map(POSIXTime.init(seconds:)), onExpiry: pins.onExpiry == "reports" ? .reports : .fails)
    }

    private func pin(_ text: String) throws -> Pin {
        let certificate = try certificate(String(text.split(separator: ":")[1]))
        return text.hasPrefix("cert:") ? Pin(certificate: certificate) : Pin(publicKeyDigest: certificate.publicKeyDigest)
    }

    private static func check(_ word: String?) -> Revocation.Check {
        ["soft": .soft, "hard": .hard][word] ?? .off
    }

    private static func version(_ text: String) -> TLSVersion {
        ["1.0": .tls10, "1.1": .tls11, "1.2": .tls12, "1.3": .tls13][text]!
    }

    private static func digest(_ name: String) -> SignatureDigest {
        ["md5": .md5, "sha1": .sha1, "sha256": .sha256][name]!
    }
}
