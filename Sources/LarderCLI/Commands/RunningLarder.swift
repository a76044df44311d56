import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ProxyPolicy
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

/// The options of subcommands that contact a running Larder.
struct RunningOptions: ParsableArguments {
    @OptionGroup var settings: SettingsOptions

    @Option(
        help: ArgumentHelp(
            "Use the Larder whose first listener has this address and port. The default is the listener in the settings, else the only running Larder.",
            valueName: "[host:]port"))
    var listen: String?

    @Option(help: ArgumentHelp("Use the Larder with this admin socket.", valueName: "path"))
    var socket: String?

    func validate() throws {
        if listen != nil, socket != nil { throw ValidationError("Give --listen or --socket, not both.") }
        if let listen, listener == nil, port == nil {
            throw ValidationError(
                "--listen \(printable(listen)) is neither an address with a port nor a port; an example is 127.0.0.1:3180.")
        }
    }

    func load(trustFiles: TrustFiles? = nil) throws(ExitCode) -> LoadedSettings {
        try settings.load(flags: flags, trustFiles: trustFiles)
    }

    /// The options as settings. For `--listen`, the setting is the path of the admin socket that is named after the listener.
    private var flags: [(flag: String, name: String, value: SettingsNode)] {
        if let socket { return [("--socket", "admin.socket", .plain(socket))] }
        let environment = ProcessInfo.processInfo.environment
        let path =
            listener.map { AdminSocketPath.of($0, environment) } ?? port.map { AdminSocketPath.ofPort($0, environment) } ?? nil
        return path.map { [("--listen", "admin.socket", .plain($0))] } ?? []
    }

    private var listener: ListenAddress? { listen.flatMap { ListenAddress($0) }.flatMap { $0.port > 0 ? $0 : nil } }

    /// The port, if `--listen` has no address.
    private var port: UInt16? {
        guard let listen else { return nil }
        return UInt16(listen.hasPrefix(":") ? String(listen.dropFirst()) : listen).flatMap { $0 > 0 ? $0 : nil }
    }
}
