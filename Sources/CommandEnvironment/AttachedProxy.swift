import AdminClient
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ServerTrust

/// The running Larder, with the environment for programs that use it.
package struct AttachedProxy {
    /// Why there is no environment for programs.
    package struct Failure: Error, CustomStringConvertible {
        package enum Kind {
            case otherVersion
            /// A Larder is running, but has no listener with plain HTTP.
            case listeners
            /// The files that programs need cannot be written.
            case files
            case answer
        }

        package let matter: Kind
        package let description: String

        package init(matter: Kind, description: String) {
            self.matter = matter
            self.description = description
        }
    }

    /// The folder for the files that programs need.
    package enum Place {
        /// The user's folder for files that programs need.
        case user
        case of(PrivateFolder)
    }

    package let environment: ClientEnvironment
    /// Whether the running Larder intercepts, with a CA.
    package var intercepts: Bool { root != nil }
    /// The root certificate of the running Larder's CA.
    package let root: Certificate?
    /// Whether every client must send a password, according to the settings. Programs that use this environment send none.
    package let asksEverybody: Bool

    /// Requests the addresses and the root certificate of the running Larder, and writes the files that programs need.
    package init(
        _ client: AdminClient, over given: [String: String], filesIn place: Place, asksEverybody: Bool = false
    ) throws(Failure) {
        self.asksEverybody = asksEverybody
        let answer = try Self.asked(client)
        guard let proxies = answer["proxies"] as? [String] else {
            throw Failure(matter: .otherVersion, description: "the running Larder has a different version")
        }
        guard let proxy = proxies.lazy.compactMap({ ListenAddress($0) }).first?.reachedLocally else {
            throw Failure(matter: .listeners, description: "the running Larder has no listener for plain HTTP")
        }
        let root = (answer["root"] as? String).flatMap { Self.certificates($0).first }
        let anchors = (answer["anchors"] as? [String] ?? []).flatMap(Self.certificates)
        self.root = root
        /// - Parameter write: a function that fills the folder, or updates its files.
        func told(
            in folder: String, _ write: (ClientFolder) throws(WholeFile.Unwritten) -> Void
        ) throws(Failure) -> ClientEnvironment {
            let files = ClientFiles(folder: folder)
            let former = OriginalEnvironment(given, behind: files)
            let trust = ClientTrust(root: root, anchors: anchors, environment: former.values)
            let environment = ClientEnvironment(proxy: proxy, files: files, carriesTrust: !trust.isEmpty, root: root)
            do throws(WholeFile.Unwritten) {
                try write(ClientFolder(environment, trust: trust, former: former))
            } catch {
                throw Failure(matter: .files, description: "cannot write to \(folder): \(error.reason)")
            }
            return environment
        }
        switch place {
        case .of(let folder):
            environment = try told(in: folder.path) { writer throws(WholeFile.Unwritten) in try writer.fill(folder) }
        case .user:
            let folders = UserFolders(given)
            guard let first = folders.state ?? folders.runtime else {
                throw Failure(
                    matter: .files,
                    description:
                        "none of XDG_STATE_HOME, HOME and XDG_RUNTIME_DIR is set, so Larder has no folder for the files of larder env"
                )
            }
            func kept(below place: String) throws(Failure) -> ClientEnvironment {
                try told(in: "\(place)/clients/\(proxy.address)-\(proxy.port)") { writer throws(WholeFile.Unwritten) in
                    try writer.update()
                }
            }
            do throws(Failure) {
                environment = try kept(below: first)
            } catch {
                // If the home folder is not writable, the runtime folder holds the files until the session ends.
                guard let other = folders.runtime, other != first else { throw error }
                environment = try kept(below: other)
            }
            ClientFolder.sweep(besides: environment.files)
        }
    }

    private static func asked(_ client: AdminClient) throws(Failure) -> JSONAnswer {
        do throws(AdminClient.Failure) {
            let (status, text) = try client.send("GET", AdminClient.setUpPath, accept: "application/json")
            return JSONAnswer(status.isSuccessful ? text : "")
        } catch {
            throw Failure(matter: .answer, description: "\(error)")
        }
    }

    private static func certificates(_ pem: String) -> [Certificate] { Certificate.reading(pem: Array(pem.utf8)) ?? [] }
}
