import Foundation

/// Certificates and revocation lists from Tests/TrustVectors/vectors.json.
package enum TrustVectors {
    private struct File: Decodable {
        let certificates: [String: Data]
        let lists: [String: Data]
    }

    private static let file: File = {
        let tests = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        // Without the file, there is nothing to test.
        return try! JSONDecoder().decode(File.self, from: Data(contentsOf: tests.appending(path: "TrustVectors/vectors.json")))
    }()

    package static func der(_ label: String) -> [UInt8] { Array(file.certificates[label]!) }
    package static func list(_ label: String) -> [UInt8] { Array(file.lists[label]!) }

    package static func pem(_ label: String) -> String { CertificateText.pem(der(label)) }
}
