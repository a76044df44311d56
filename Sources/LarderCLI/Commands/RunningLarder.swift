import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import LarderSettings
import TextCoding

/// The output form of a subcommand: text for people, JSON for programs.
enum OutputForm: String, CaseIterable, ExpressibleByArgument {
    case text, json

    var mediaType: String { self == .text ? "text/plain" : "application/json" }
}

struct OutputOption: ParsableArguments {
    @Option(name: [.short, .long], help: "The format: text or json.")
    var output = OutputForm.text
}

/// The running Larder that the settings refer to, contacted over its admin socket.
enum RunningLarder {
    /// Connects to the running Larder.
    /// - Throws: exit code 1, after reporting that none is running.
    static func connect(_ loaded: LoadedSettings) throws -> AdminClient {
        guard let path = try path(loaded) else {
            Terminal.talk("larder: admin.socket is off, or its path is unknown\n")
            throw ExitCode.failure
        }
        do throws(AdminClient.Failure) {
            return try AdminClient(path: path)
        } catch {
            Terminal.talk("larder: \(error)\n")
            throw ExitCode.failure
        }
    }

    /// Connects to the running Larder if there is one.
    /// - Throws: exit code 1, after reporting why a running Larder cannot be contacted.
    static func find(_ loaded: LoadedSettings) throws(ExitCode) -> (client: AdminClient, path: String)? {
        guard let path = try path(loaded) else { return nil }
        do throws(AdminClient.Failure) {
            return (try AdminClient(path: path), path)
        } catch {
            if case .notRunning = error { return nil }
            Terminal.talk("larder: \(error)\n")
            throw ExitCode.failure
        }
    }

    /// Whether at least one Larder is running that these settings may refer to.
    static func isRunning(_ loaded: LoadedSettings) -> Bool {
        switch AdminSocketPath.find(loaded.settings, loaded.sources.environment) {
        case .none: false
        case .path(let path): (try? AdminClient(path: path)) != nil
        case .several: true
        }
    }

    /// - Returns: `nil` if there is no admin socket.
    /// - Throws: exit code 1, after reporting that several Larders are running.
    private static func path(_ loaded: LoadedSettings) throws(ExitCode) -> String? {
        switch AdminSocketPath.find(loaded.settings, loaded.sources.environment) {
        case .none: return nil
        case .path(let path): return path
        case .several(let paths):
            Terminal.talk("larder: \(AdminSocketPath.several(paths))\n")
            throw ExitCode.failure
        }
    }

    /// Sends a request and prints the response; exits with `failure` on an error.
    static func ask(
        _ client: AdminClient, _ method: String, _ target: String, body: [UInt8] = [], form: OutputForm,
        failure: ExitCode = .failure, tell: (String) -> Void = { Terminal.output($0) }
    ) throws {
        do {
            let (status, text) = try client.send(method, target, body: body, accept: form.mediaType)
            if status.isSuccessful { return tell(text) }
            if let detail = JSONAnswer(text)["detail"] as? String {
                Terminal.talk("larder: \(printable(detail, limit: 1000))\n")
                throw status.code == 400 ? ExitCode(2) : failure
            }
            if form == .text { Terminal.talk(text) } else { Terminal.output(text) }
            throw failure
        } catch let error as AdminClient.Failure {
            Terminal.talk("larder: \(error)\n")
            throw ExitCode.failure
        }
    }
}
