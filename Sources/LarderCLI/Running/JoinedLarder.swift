import ArgumentParser
import Foundation
import HTTPMessage
import ProxyAdmin
import ServerTrust

/// The Larder that runs already, as programs are told of it.
struct JoinedLarder {
    let environment: ClientEnvironment

    /// Asks it, and has the files that programs need stand in the user's folder for such.
    /// - Throws: exit code 1, after saying what is wrong.
    init(_ options: SettingsOptions, over given: [String: String]) throws {
        let client = try RunningLarder.connect(options)
        let (status, text) = try Self.asked(client)
        let answer = JSONAnswer(text)
        guard status.isSuccessful, let proxies = answer["proxies"] as? [String],
            let proxy = proxies.lazy.compactMap({ ListenAddress($0) }).first
        else { throw Self.fail("the Larder that runs does not say how programs reach it: is it of another version?") }
        guard let state = UserFolders(given).state else {
            throw Self.fail("neither XDG_STATE_HOME nor HOME says where the files for programs may stand")
        }
        let reached = proxy.reachedLocally
        let files = ClientFiles(folder: "\(state)/clients/\(reached.address)-\(reached.port)")
        let trust = ClientTrust(
            root: (answer["root"] as? String).flatMap { Self.certificates($0).first },
            anchors: (answer["anchors"] as? [String] ?? []).flatMap(Self.certificates),
            environment: given.filter { $0.key != "SSL_CERT_FILE" || $0.value != files.bundle })
        environment = ClientEnvironment(proxy: reached, files: files, carriesTrust: !trust.isEmpty)
        do throws(WholeFile.Unwritten) {
            try ClientFolder(environment, trust: trust, given: given).update()
        } catch {
            throw Self.fail("cannot write to \(files.folder): \(error.reason)")
        }
    }

    private static func asked(_ client: AdminClient) throws(ExitCode) -> (Status, String) {
        do throws(AdminClient.Failure) {
            return try client.send("GET", ClientSetUpRoute.path, accept: "application/json")
        } catch {
            throw fail("\(error)")
        }
    }

    private static func certificates(_ pem: String) -> [Certificate] { Certificate.reading(pem: Array(pem.utf8)) ?? [] }

    private static func fail(_ reason: String) -> ExitCode {
        Terminal.talk("larder: \(printable(reason, limit: 4096))\n")
        return .failure
    }
}

extension ListenAddress {
    /// As this machine reaches it: one that stands for every address is no address to go to.
    var reachedLocally: ListenAddress {
        guard address.isUnspecified else { return self }
        return ListenAddress(address: address.family == .ipv6 ? .loopbackIPv6 : .loopbackIPv4, port: port)
    }
}
