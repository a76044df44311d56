import ArgumentParser
import CommandEnvironment
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ProxyAdmin
import ServerTrust
import TextCoding

/// The Larder that runs already, as programs are told of it.
struct JoinedLarder {
    /// Why programs cannot be told.
    struct Failure: Error, CustomStringConvertible {
        enum Matter {
            case otherVersion
            /// It runs well, and has none that speaks plain HTTP.
            case listeners
            /// Those that programs need cannot be written.
            case files
            case answer
        }

        let matter: Matter
        let description: String
    }

    /// Where the files stand that programs need.
    enum Place {
        /// In the user's folder for such.
        case user
        case of(PrivateFolder)
    }

    let environment: ClientEnvironment
    /// Whether it has an authority by which it intercepts.
    var intercepts: Bool { root != nil }
    /// Of that authority, as the running Larder uses it.
    let root: Certificate?
    /// Whether the settings have everybody asked for a password, which no program knows.
    private(set) var asksEverybody = false

    /// Asks it, and writes the files.
    init(_ client: AdminClient, over given: [String: String], filesIn place: Place) throws(Failure) {
        let answer = try Self.asked(client)
        guard let proxies = answer["proxies"] as? [String] else {
            throw Failure(matter: .otherVersion, description: "the Larder that runs is of another version")
        }
        guard let proxy = proxies.lazy.compactMap({ ListenAddress($0) }).first?.reachedLocally else {
            throw Failure(matter: .listeners, description: "the Larder that runs has no listener that speaks plain HTTP")
        }
        let root = (answer["root"] as? String).flatMap { Self.certificates($0).first }
        let anchors = (answer["anchors"] as? [String] ?? []).flatMap(Self.certificates)
        self.root = root
        /// - Parameter write: fills the folder, or brings it up to date.
        func told(
            in folder: String, _ write: (ClientFolder) throws(WholeFile.Unwritten) -> Void
        ) throws(Failure) -> ClientEnvironment {
            let files = ClientFiles(folder: folder)
            let former = FormerVariables(given, behind: files)
            let trust = ClientTrust(root: root, anchors: anchors, environment: former.values)
            let environment = ClientEnvironment(proxy: proxy, files: files, carriesTrust: !trust.isEmpty)
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
                    description: "none of XDG_STATE_HOME, HOME and XDG_RUNTIME_DIR says where the files for programs may stand")
            }
            func kept(below place: String) throws(Failure) -> ClientEnvironment {
                try told(in: "\(place)/clients/\(proxy.address)-\(proxy.port)") { writer throws(WholeFile.Unwritten) in
                    try writer.update()
                }
            }
            do throws(Failure) {
                environment = try kept(below: first)
            } catch {
                // A home that cannot be written to is none: until the session ends they may stand elsewhere.
                guard let other = folders.runtime, other != first else { throw error }
                environment = try kept(below: other)
            }
            ClientFolder.sweep(besides: environment.files)
        }
    }

    /// - Throws: exit code 1, after saying what is wrong.
    init(_ loaded: LoadedSettings, over given: [String: String], filesIn place: Place) throws {
        let client = try RunningLarder.connect(loaded)
        do throws(Failure) {
            try self.init(client, over: given, filesIn: place)
            asksEverybody = loaded.settings.clients.asksEverybody
        } catch {
            Terminal.talk("larder: \(printable("\(error)", limit: 4096))\n")
            throw ExitCode.failure
        }
    }

    private static func asked(_ client: AdminClient) throws(Failure) -> JSONAnswer {
        do throws(AdminClient.Failure) {
            let (status, text) = try client.send("GET", ClientSetUpRoute.path, accept: "application/json")
            return JSONAnswer(status.isSuccessful ? text : "")
        } catch {
            throw Failure(matter: .answer, description: "\(error)")
        }
    }

    private static func certificates(_ pem: String) -> [Certificate] { Certificate.reading(pem: Array(pem.utf8)) ?? [] }
}

extension LarderSettings.Clients {
    var asksEverybody: Bool { passwords != nil && authenticate == .all }
}

extension ListenAddress {
    /// As this machine reaches it: one that stands for every address is no address to go to.
    var reachedLocally: ListenAddress {
        guard address.isUnspecified else { return self }
        return ListenAddress(address: address.family == .ipv6 ? .loopbackIPv6 : .loopbackIPv4, port: port)
    }
}
