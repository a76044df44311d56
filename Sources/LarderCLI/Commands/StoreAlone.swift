import ArgumentParser
import CommandSupport
import Foundation
import HTTPMessage
import LarderSettings
import ProxyAdmin
import ProxyPolicy
import ProxyServer
import ResponseStore
import TextCoding

/// The settings and the store's file, for explanations without a running Larder. Nothing is changed.
struct StoreAlone {
    private let loaded: LoadedSettings
    private let path: String
    /// Why the trust policies are not known; `nil` if they are known, or are not needed.
    private let trustProblem: String?

    /// - Parameter judgesServers: whether the trust policies are needed. Their files are then read here, because `loaded` was read without
    ///   them.
    /// - Throws: exit code 2, after reporting the problem.
    init(_ loaded: LoadedSettings, judgesServers: Bool) throws(ExitCode) {
        path = try ServingPlan(loaded).storePath
        guard judgesServers else {
            self.loaded = loaded
            trustProblem = nil
            return
        }
        var sources = loaded.sources
        // `explain` intercepts nothing, so it needs no key of the local CA.
        sources.trustFiles = TrustFiles(interceptsNobody: true)
        switch sources.load(isFirst: false).outcome {
        case .settings(let settings):
            self.loaded = LoadedSettings(settings: settings, file: loaded.file, sources: sources)
            trustProblem = nil
        case .problems(let problems):
            self.loaded = loaded
            trustProblem = problems.first?.description ?? "the trust policies in the settings cannot be read"
        }
    }

    /// - Parameters:
    ///   - octets: a request's head, optionally its content, and optionally a saved response's head.
    ///   - contentLength: the length of the request's content in bytes; `nil` if no content is given.
    func explain(_ octets: [UInt8], contentLength: Int?, from client: ClientFacts) throws -> Explanation {
        let settings = ServerAssembly.serverSettings(loaded.settings)
        var heads = try ExplainedHeads(octets, contentLength: contentLength, limits: settings.parseLimits)
        heads.client = client
        let context = ProxyServer.context(settings, rules: loaded.settings.policy, addresses: [])
        let tellsQuery = loaded.settings.log.access.includesQuery
        let now = Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000))
        let terms = Explainer.Terms(tellsQuery: tellsQuery, trustProblem: trustProblem)
        if heads.response != nil { return Explainer.judge(heads, context: context, terms, at: now) }
        let file = try openFile()
        let explained = Explainer.explain(heads, context: context, terms, at: now) { key, _ in
            // An unreadable stored response is treated as absent, as when a real request is served.
            .found(
                (try? file?.responses(ofKey: key)) ?? [], partials: (try? file?.partials(ofKey: key)) ?? [], isComplete: true)
        }
        switch explained {
        case .explanation(let explanation): return explanation
        case .waiting: preconditionFailure("the file has answered")
        }
    }

    /// - Returns: `nil` if the file does not exist yet.
    private func openFile() throws(ExitCode) -> StoreBrowser? {
        guard path != ":memory:", FileManager.default.fileExists(atPath: path) else { return nil }
        do throws(StoreError) {
            return try StoreBrowser(path: path)
        } catch {
            Terminal.talk("larder: cannot read the store: \(printable("\(error)", limit: 4096))\n")
            throw ExitCode.failure
        }
    }
}
