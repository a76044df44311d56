import Foundation
import ServerTrust
import Testing

@testable import CertificateAuthority

/// A temporary folder for a test, removed with this object.
final class Folder {
    let url = FileManager.default.temporaryDirectory.appending(path: "larder-ca-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }  // any remainder is in the temporary folder

    @discardableResult
    func write(_ text: String, to name: String) throws -> String {
        try Data(text.utf8).write(to: url.appending(path: name))
        return url.appending(path: name).path
    }
}

/// Other programs, which find faults that our own reader would share.
struct Program {
    let code: Int32
    let output: String

    @discardableResult
    init(_ words: String...) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        // To a file: processes that other tests start at the same time would keep a pipe open.
        let folder = try Folder()
        let said = try URL(filePath: folder.write("", to: "said"))
        let handle = try FileHandle(forWritingTo: said)
        process.standardOutput = handle
        process.standardError = handle
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        output = try String(decoding: Data(contentsOf: said), as: UTF8.self)
        code = process.terminationStatus
    }
}

/// A certificate as text from `openssl x509 -text`.
struct OpenSSLText {
    let text: String

    init(_ certificate: Certificate) throws {
        let folder = try Folder()
        let run = try Program("openssl", "x509", "-noout", "-text", "-in", folder.write(certificate.pem, to: "certificate.pem"))
        try #require(run.code == 0)
        text = run.output
    }

    /// The line after the extension's name.
    func `extension`(_ title: String) -> String? {
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let index = lines.firstIndex(of: title.trimmingCharacters(in: .whitespaces))
        return index.map { lines[$0 + 1] }
    }
}

/// A root as made with the `openssl` command.
struct OpenSSLRoot {
    let certificate: [UInt8]
    let key: [UInt8]

    init(extensions: String, curve: String) throws {
        let folder = try Folder()
        let settings = try folder.write(
            "[req]\ndistinguished_name=dn\nx509_extensions=v3\nprompt=no\n[dn]\nCN=Other\n[v3]\n\(extensions)\n", to: "settings")
        let key = folder.url.appending(path: "key.pem")
        let certificate = folder.url.appending(path: "root.pem")
        let run = try Program(
            "openssl", "req", "-new", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:\(curve)", "-nodes", "-keyout",
            key.path, "-out", certificate.path, "-days", "30", "-config", settings)
        try #require(run.code == 0, "\(run.output)")
        self.certificate = try Array(Data(contentsOf: certificate))
        self.key = try Array(Data(contentsOf: key))
    }
}
