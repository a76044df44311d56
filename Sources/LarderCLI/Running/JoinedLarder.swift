import ArgumentParser
import Foundation
import HTTPMessage
import ProxyAdmin
import ServerTrust

/// The Larder that runs already, as programs are told of it.
struct JoinedLarder {
    /// Why programs cannot be told.
    struct Failure: Error, CustomStringConvertible { let description: String }

    let environment: ClientEnvironment
    /// Whether it has an authority by which it intercepts.
    let intercepts: Bool

    /// Asks it, and has the files that programs need stand in the user's folder for such.
    init(_ client: AdminClient, over given: [String: String]) throws(Failure) {
        let answer = try Self.asked(client)
        guard let proxy = (answer["proxies"] as? [String])?.lazy.compactMap({ ListenAddress($0) }).first else {
            throw Failure(
                description:
                    "the Larder that runs names no listener that speaks plain HTTP: it has none, or is of another version")
        }
        guard let state = UserFolders(given).state else {
            throw Failure(description: "neither XDG_STATE_HOME nor HOME says where the files for programs may stand")
        }
        let reached = proxy.reachedLocally
        let files = ClientFiles(folder: "\(state)/clients/\(reached.address)-\(reached.port)")
        let root = (answer["root"] as? String).flatMap { Self.certificates($0).first }
        let trust = ClientTrust(
            root: root, anchors: (answer["anchors"] as? [String] ?? []).flatMap(Self.certificates),
            environment: given.filter { $0.key != "SSL_CERT_FILE" || $0.value != files.bundle })
        environment = ClientEnvironment(proxy: reached, files: files, carriesTrust: !trust.isEmpty)
        intercepts = root != nil
        do throws(WholeFile.Unwritten) {
            try ClientFolder(environment, trust: trust, given: given).update()
        } catch {
            throw Failure(description: "cannot write to \(files.folder): \(error.reason)")
        }
    }

    /// - Throws: exit code 1, after saying what is wrong.
    init(_ options: SettingsOptions, over given: [String: String]) throws {
        let client = try RunningLarder.connect(options)
        do throws(Failure) {
            try self.init(client, over: given)
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
            throw Failure(description: "\(error)")
        }
    }

    private static func certificates(_ pem: String) -> [Certificate] { Certificate.reading(pem: Array(pem.utf8)) ?? [] }
}

extension ListenAddress {
    /// As this machine reaches it: one that stands for every address is no address to go to.
    var reachedLocally: ListenAddress {
        guard address.isUnspecified else { return self }
        return ListenAddress(address: address.family == .ipv6 ? .loopbackIPv6 : .loopbackIPv4, port: port)
    }
}
