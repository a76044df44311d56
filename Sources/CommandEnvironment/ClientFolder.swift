import CertificateAuthority
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ServerTrust

/// Writes the files that the variables name.
package struct ClientFolder {
    let environment: ClientEnvironment
    private let trust: ClientTrust
    private let former: OriginalEnvironment

    package init(_ environment: ClientEnvironment, trust: ClientTrust, former: OriginalEnvironment) {
        self.environment = environment
        self.trust = trust
        self.former = former
    }

    /// Writes into an empty temporary folder.
    /// - Parameter coversSystem: whether these files will also be mounted over the system's files.
    package func fill(_ folder: PrivateFolder, coversSystem: Bool = false) throws(WholeFile.Unwritten) {
        for (path, octets) in texts { try folder.write(octets, to: path) }
        if environment.carriesTrust { try folder.write(javaStore(), to: environment.files.javaStore) }
        if environment.carriesTrust, coversSystem {
            try folder.write(javaStore(password: nil), to: environment.files.openJavaStore)
        }
    }

    /// Writes into a permanent folder; files that are up to date stay unchanged.
    package func update() throws(WholeFile.Unwritten) {
        let files = environment.files
        do {
            try FileManager.default.createDirectory(
                atPath: files.folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw WholeFile.Unwritten(reason: "the folder cannot be created")
        }
        // The file `trust.mark` is written last, after the trust store with the same certificates.
        let mark = "\(files.folder)/trust.mark"
        let markText = Array("\(Hexadecimal.encode(SHA256Digest(of: trust.bundleText).octets))\n".utf8)
        if environment.carriesTrust, !Self.stands(markText, at: mark) || access(files.javaStore, R_OK) != 0 {
            try WholeFile.write(javaStore(), to: files.javaStore, replaces: true)
            try WholeFile.write(markText, to: mark, replaces: true)
        }
        for (path, octets) in texts where !Self.stands(octets, at: path) { try WholeFile.write(octets, to: path, replaces: true) }
    }

    /// Removes the folders of other Larders that were not used for a month and at whose address no Larder accepts connections.
    package static func sweep(besides files: ClientFiles) {
        utimes(files.folder, nil)
        let own = URL(filePath: files.folder)
        let place = own.deletingLastPathComponent()
        for name in (try? FileManager.default.contentsOfDirectory(atPath: place.path)) ?? [] where name != own.lastPathComponent {
            let folder = place.appending(path: name).path
            var facts = stat()
            guard let address = address(of: name), access(ClientFiles(folder: folder).former, F_OK) == 0,
                stat(folder, &facts) == 0, time(nil) - facts.st_mtim.tv_sec > keptSeconds
            else { continue }
            if let connection = TrialSocket.connect(to: address) {
                close(connection)
            } else if errno == ECONNREFUSED {
                try? FileManager.default.removeItem(atPath: folder)  // if this fails, the next call tries again
            }
        }
    }

    private static let keptSeconds = 30 * 86_400

    private static func address(of name: String) -> ListenAddress? {
        guard let line = name.lastIndex(of: "-") else { return nil }
        let (address, port) = (name[..<line], name[name.index(after: line)...])
        return ListenAddress(address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)")
    }

    private var texts: [(path: String, octets: [UInt8])] {
        let files = environment.files
        let settings = ClientSettingsText(environment: environment, given: former.values)
        var texts = [(files.wgetSettings, settings.wget), (files.aptSettings, settings.apt), (files.former, former.text)]
        if environment.carriesTrust {
            texts += [
                (files.bundle, trust.bundleText), (files.additions, Array(trust.additionsText.utf8)),
                (files.phpSettings, settings.php),
            ]
        }
        return texts
    }

    private func javaStore(
        password: String? = TrustStoreArchive.usualPassword
    ) throws(WholeFile.Unwritten) -> [UInt8] {
        guard let octets = trust.javaStore(password: password) else { throw WholeFile.Unwritten(reason: "OpenSSL failed") }
        return octets
    }

    private static func stands(_ octets: [UInt8], at path: String) -> Bool {
        (try? LocalFile.bytes(at: path, atMost: max(octets.count, 1))) == octets  // an unreadable file is written again
    }
}
