import AdminClient
import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ProxyPolicy
import TextCoding

/// The options of subcommands that contact a running Larder.
struct RunningOptions: ParsableArguments {
    @OptionGroup var settings: SettingsOptions

    @Option(
        help: ArgumentHelp(
            "Use the Larder that listens on this address and port. The default is the listener in the settings, else the only running Larder.",
            valueName: "[host:]port"))
    var listen: String?

    @Option(
        help: ArgumentHelp(
            "Use the Larder with this admin socket. The command then does not read the settings file.", valueName: "path"))
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

    /// Connects to the running Larder. If the options name it, no settings are read, so that a mistake in the settings file prevents no
    /// command to a running Larder.
    /// - Throws: exit code 1 or 2, after reporting the problem.
    func connect() throws -> AdminClient {
        guard let path = namedSocket else { return try RunningLarder.connect(load()) }
        do throws(AdminClient.Failure) {
            return try AdminClient(path: path)
        } catch {
            var advice = ""
            if let listen, case .notRunning = error {
                advice = "; if the Larder on \(printable(listen)) has another admin socket, give --socket"
            }
            Terminal.talk("larder: \(error)\(advice)\n")
            throw ExitCode.failure
        }
    }

    /// The path of the admin socket, if the options name the Larder and give no settings.
    var namedSocket: String? {
        guard settings.config == nil, settings.set.isEmpty else { return nil }
        if let socket { return ["auto", "off"].contains(socket) ? nil : URL(filePath: socket).path }
        return listenerSocket
    }

    /// The options as settings. For `--listen`, the setting is the path of the admin socket.
    private var flags: [(flag: String, name: String, value: SettingsNode)] {
        if let socket { return [("--socket", "admin.socket", .plain(socket))] }
        return listenerSocket.map { [("--listen", "admin.socket", .plain($0))] } ?? []
    }

    /// The admin socket of the Larder in `--listen`. Its name contains only the first listener, so if no Larder has that socket, the running
    /// ones are asked for their other listeners.
    private var listenerSocket: String? {
        let environment = ProcessInfo.processInfo.environment
        let named =
            listener.map { AdminSocketPath.of($0, environment) } ?? port.map { AdminSocketPath.ofPort($0, environment) } ?? nil
        guard let named, (try? AdminClient(path: named)) == nil else { return named }
        return AdminSocketPath.running(environment).first { listens(larderAt: $0) } ?? named
    }

    /// Whether the Larder with this admin socket has the listener in `--listen`.
    private func listens(larderAt path: String) -> Bool {
        guard let client = try? AdminClient(path: path),
            let (status, text) = try? client.send("GET", "/v1/status", accept: OutputForm.json.mediaType), status.isSuccessful
        else { return false }
        let listeners = (JSONAnswer(text)["listeners"] as? [String] ?? []).compactMap { ListenAddress($0) }
        guard let listener else { return listeners.contains { $0.port == port } }
        return listeners.contains { $0.reachedLocally.isSame(as: listener.reachedLocally) }
    }

    private var listener: ListenAddress? { listen.flatMap { ListenAddress($0) }.flatMap { $0.port > 0 ? $0 : nil } }

    /// The port, if `--listen` has no address.
    private var port: UInt16? {
        guard let listen else { return nil }
        return UInt16(listen.hasPrefix(":") ? String(listen.dropFirst()) : listen).flatMap { $0 > 0 ? $0 : nil }
    }
}
