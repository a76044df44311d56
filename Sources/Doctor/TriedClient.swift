import Foundation
import LocalCA

/// Tests a client program: it sends requests to the origin of `TrialOrigin` through the running Larder, with the variables of `larder
/// env`.
package struct TriedClient {
    /// The host name of the test's URLs. curl's library always resolves it to this machine (RFC 6761 §6.3), and programs do not exclude it
    /// from proxies.
    static let host = "larder-doctor.localhost"
    /// The time limit for one program and one URL.
    private static let seconds = "30"

    let trial: ClientTrial
    let environment: [String: String]
    let origin: TrialOrigin
    /// A folder that is removed after all tests.
    let folder: String
    let process: TrialProcess

    package init(
        trial: ClientTrial, environment: [String: String], origin: TrialOrigin, folder: String, process: TrialProcess
    ) {
        self.trial = trial
        self.environment = environment
        self.origin = origin
        self.folder = folder
        self.process = process
    }

    /// - Parameters:
    ///   - intercepts: whether to test https too.
    ///   - isAsked: whether to report a program that is not installed.
    package func findings(intercepts: Bool, isAsked: Bool) -> [Finding] {
        guard let tool = Tool(trial.program, in: environment), let clock = Tool("timeout", in: environment) else {
            return isAsked ? [Finding(trial.name, .skipped, "\(trial.program) or timeout (of coreutils) is not installed")] : []
        }
        let place = "\(folder)/\(trial.name)"
        guard mkdir(place, 0o700) == 0, prepare(place) else {
            return [Finding(trial.name, .skipped, "cannot create files for this program")]
        }
        func said(_ url: String) -> String {
            let variables = environment.merging(trial.variables(url, place)) { $1 }
            let outcome = Tool(path: clock.path, in: variables).run(
                [Self.seconds, tool.path] + trial.words(url, place), begun: process.begin)
            process.end()
            return String(decoding: outcome.output + outcome.talk, as: UTF8.self)
        }
        let plain = http(said("http://\(Self.host):\(origin.port)/\(trial.name)/"))
        return intercepts ? [plain, https(said("https://\(Self.host)/\(trial.name)/"))] : [plain]
    }

    private func prepare(_ place: String) -> Bool {
        trial.files.allSatisfy { name, text in
            FileManager.default.createFile(atPath: "\(place)/\(name)", contents: Data(text.utf8))
        }
    }

    /// The test succeeds if a request reaches the origin.
    private func http(_ said: String) -> Finding {
        let name = "\(trial.name), http"
        guard let request = origin.request(below: "/\(trial.name)/") else { return failed(name, "no request arrived", said) }
        if request.cameThrough { return Finding(name, .good, "uses Larder") }
        return failed(name, "bypasses Larder", said)
    }

    /// In the https test, Larder cannot reach the server or does not trust it, and therefore sends an error response. A program that gets
    /// this response has accepted Larder's certificate.
    private func https(_ said: String) -> Finding {
        let name = "\(trial.name), https"
        let isAnswered = said.split(whereSeparator: \.isNewline).contains(where: Self.isOfAnswer)
        let lines = withoutPlaces(said).split(whereSeparator: \.isNewline).filter {
            !$0.contains("Picked up") && !Self.isOfAnswer($0)
        }
        let text = lines.joined(separator: "\n").lowercased()
        if text.contains(/certificate|ssl|tls|x509|pkix/) {
            return failed(name, "does not trust Larder's root certificate", said)
        }
        let isInTunnel = !text.contains(/connect tunnel|after connect|tunnel connection failed/)
        if isInTunnel, isAnswered || text.contains(/\b50[24]\b|connection_refused/) {
            return Finding(name, .good, "trusts Larder's root certificate")
        }
        return failed(name, "the request of the program failed", said)
    }

    /// Whether a program printed the body or the field of an error response of Larder.
    private static func isOfAnswer(_ line: Substring) -> Bool {
        line.contains("\"type\":\"about:blank\"") || line.lowercased().contains("proxy-status:")
    }

    /// Removes paths, since a folder's name may contain words of an error message.
    private func withoutPlaces(_ said: String) -> String {
        let places = ([folder] + environment.values.filter { $0.hasPrefix("/") && $0.count > 1 }).sorted { $0.count > $1.count }
        return places.reduce(said) { $0.replacing($1, with: "") }.replacing(/\/\S*/, with: "")
    }

    private func failed(_ name: String, _ what: String, _ said: String) -> Finding {
        Finding(name, trial.failure, "\(what) (\(trial.note)): \(Self.lastLine(said))", remedy: trial.remedy)
    }

    private static func lastLine(_ said: String) -> String {
        said.split(whereSeparator: \.isNewline).last { !$0.allSatisfy(\.isWhitespace) }.map(String.init) ?? "no output"
    }
}
