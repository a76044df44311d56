import ArgumentParser
import HTTPMessage
import ProxyAdmin

/// How a verb prints what it was told: text for people, JSON for programs.
enum OutputForm: String, CaseIterable, ExpressibleByArgument {
    case text, json

    var mediaType: String { self == .text ? "text/plain" : "application/json" }
}

/// The Larder that these settings speak of, asked over its admin socket.
enum RunningLarder {
    /// Connects to it.
    /// - Throws: exit code 1 after saying that none runs.
    static func connect(_ options: SettingsOptions) throws -> AdminClient { try connect(try options.load()) }

    static func connect(_ loaded: LoadedSettings) throws -> AdminClient {
        guard let path = AdminSocketPath.of(loaded.settings, loaded.sources.environment) else {
            Terminal.talk("larder: admin.socket is off, or nothing says where it stands\n")
            throw ExitCode.failure
        }
        do throws(AdminClient.Failure) {
            return try AdminClient(path: path)
        } catch {
            Terminal.talk("larder: \(error)\n")
            throw ExitCode.failure
        }
    }

    /// Connects to it where one runs.
    /// - Throws: exit code 1 after saying why one that runs cannot be asked.
    static func find(_ loaded: LoadedSettings) throws(ExitCode) -> AdminClient? {
        guard let path = AdminSocketPath.of(loaded.settings, loaded.sources.environment) else { return nil }
        do throws(AdminClient.Failure) {
            return try AdminClient(path: path)
        } catch {
            if case .notRunning = error { return nil }
            Terminal.talk("larder: \(error)\n")
            throw ExitCode.failure
        }
    }

    /// Asks, tells the answer, and ends with `failure` where the answer is none.
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
