import CommandSupport
import Foundation
import HTTPSerialization
import ProxyPolicy

/// The settings that a project may change before the user has decided about it. These changes cannot make Larder send data to another
/// server, or trust a server more, than the user's own settings do.
package struct ProjectTerms: Sendable {
    /// The folder that must contain the files that the settings name.
    let project: String
    /// Whether the command replays. Then no rule can forward a request.
    let isReplayed: Bool

    /// Keeps the permitted part of a project's settings.
    /// - Parameters:
    ///   - settings: the settings with the project's settings merged in.
    ///   - former: the settings without the project's settings.
    ///   - origins: the places of the settings; the places of merged entries are reset.
    ///   - layer: the project's settings as a layer.
    ///   - trustFiles: as passed to `SettingsReader.read`.
    func settle(
        _ settings: inout LarderSettings, over former: LarderSettings, origins: inout [String: SettingsReader.Origin],
        formerOrigins: [String: SettingsReader.Origin], of layer: SettingsLayer, trustFiles: TrustFiles?,
        problems: inout SettingsProblems
    ) {
        let written = origins.filter { $0.value.layer == layer.name }
        for (name, origin) in written.sorted(by: { ($0.value.place, $0.key) < ($1.value.place, $1.key) }) {
            func refuse(_ reason: String) { Self.refuse(name, at: origin.place, reason, to: &problems) }
            func keepInside(_ paths: [String]) {
                for path in paths where !isInside(origin.path(of: path)) {
                    refuse("\(path) is not a file of this project")
                }
            }
            switch name {
            case "rules":
                if isReplayed, let rule = settings.rules.compiled.rules.first(where: { $0.mode.map(Self.letsOut) ?? false }) {
                    let words =
                        settings.rules.node.flatMap { Self.place(of: ["mode"], inRule: rule.name, of: $0) } ?? origin.place
                    Self.refuse(
                        name, at: words, "the rule `\(rule.name)` forwards requests, but the command only replays", to: &problems)
                }
                refuseChangedResponses(settings.rules, at: origin.place, problems: &problems)
            case "replay.on_expired":
                if settings.recordings.onExpired == .refresh { refuse("`refresh` forwards every request") }
            case "replay.signed_by":
                keepInside(settings.recordings.signedBy)
                if !former.recordings.signedBy.isEmpty { refuse("your own settings already set `replay.signed_by`") }
            case "replay.layers": keepInside(settings.recordings.files)
            case "record.match":
                guard let path = settings.recordings.match else { break }
                keepInside([path])
                if Self.declaresHarmless(origin.path(of: path)) {
                    refuse("\(path) contains secrets.public, which stores secrets unchanged")
                }
            case "tls.hosts", "tls.default": break
            case _ where name.hasPrefix("replay.") || name.hasPrefix("limits."): break
            case _ where name.hasPrefix("tls.connect."):
                if let reason = StricterTrust.weakening(name, settings.tls.connect, over: former.tls.connect) { refuse(reason) }
            default: refuse("this setting of a project needs your decision")
            }
        }
        settleTrust(
            &settings.tls, over: former.tls, written: written, origins: &origins, formerOrigins: formerOrigins,
            trustFiles: trustFiles, problems: &problems)
    }

    /// What the user can do next.
    static let remedy = "read the file, then run `larder project allow` (or use --project-settings=allow)"

    static func refuse(_ name: String, at place: SettingsPlace, _ reason: String, to problems: inout SettingsProblems) {
        problems.add("\(refusal)\(reason); \(remedy)", path: name, at: place)
    }

    private static let refusal = "a project may not set this: "

    /// The place and the name of a setting that was refused because the user has not decided about the project.
    /// - Returns: `nil` for any other problem.
    package static func setting(refusedBy problem: LocatedProblem) -> String? {
        guard problem.problem.message.hasPrefix(refusal) else { return nil }
        return "\(LocatedProblem.position(of: problem.problem.place, in: problem.source)): \(problem.problem.path)"
    }

    private static func letsOut(_ mode: RuleMode) -> Bool {
        switch mode {
        case .live, .record, .recordMissing: true
        case .offline, .replay: false
        }
    }

    /// Refuses rules that allow more than the user's rules, rules that change responses, and rules that answer a request with another
    /// host's response. A changed response can make the client send its data to another server (by `Location`, or a URL in JSON).
    private func refuseChangedResponses(_ rules: LarderSettings.Rules, at place: SettingsPlace, problems: inout SettingsProblems)
    {
        for rule in rules.compiled.rules {
            let widens = [
                (["allow"], rule.allows, "allows requests"), (["tunnel"], rule.allowsAnyTunnel, "allows tunnels"),
                (["ask"], rule.asks, "asks an approver about requests"),
                (["deny", "stored"], rule.deniedUse == .serve, "serves stored responses to requests that it denies"),
            ]
            for (keys, isRefused, effect) in widens where isRefused {
                let words = rules.node.flatMap { Self.place(of: keys, inRule: rule.name, of: $0) } ?? place
                Self.refuse(
                    "rules", at: words, "the rule `\(rule.name)` \(effect), but a project's rules may only deny requests",
                    to: &problems)
            }
            if let choice = rule.upstream {
                Self.refuse(
                    "rules", at: choice.place,
                    "the rule `\(rule.name)` chooses the way of requests, but a project's rules may only deny requests",
                    to: &problems)
            }
            if rule.enforcement == .report {
                let words = rules.node.flatMap { Self.place(of: ["enforce"], inRule: rule.name, of: $0) } ?? place
                Self.refuse(
                    "rules", at: words,
                    "the rule `\(rule.name)` only reports the requests that it should deny, but a project's rules must deny requests",
                    to: &problems)
            }
            let setsValues = rule.transform?.words.settings?.isEmpty == false
            let changesHosts = rule.cache?.key?.canonicalHost != nil
            let changes = [("response", !rule.response.isEmpty), ("transform", setsValues), ("cache", changesHosts)]
            for (key, isRefused) in changes where isRefused {
                let words = rules.node.flatMap { Self.place(of: [key], inRule: rule.name, of: $0) } ?? place
                Self.refuse(
                    "rules", at: words,
                    "the rule `\(rule.name)` changes responses, and a changed response can send the client to another server",
                    to: &problems)
            }
        }
    }

    /// The place of the value that is under these keys of a rule.
    private static func place(of keys: [String], inRule rule: String, of rules: SettingsNode) -> SettingsPlace? {
        guard case .sequence(let nodes) = rules.value else { return nil }
        func isNamed(_ node: SettingsNode) -> Bool {
            if case .scalar(let name)? = node.entry(at: ["name"])?.value.value { name.text == rule } else { false }
        }
        return nodes.first(where: isNamed)?.entry(at: keys.map { $0[...] }[...])?.value.place
    }

    /// The maximum length of a match file that is read here, in bytes. A longer file is refused when the recording begins.
    private static let matchLengthLimit = 1 << 20

    /// Whether a match file excludes names from the search for secrets, as `secrets` of the match rules can.
    private static func declaresHarmless(_ path: String) -> Bool {
        // If the file is unreadable or invalid, it is refused, with the reason, when the recording begins.
        guard let text = try? LocalFile.bytes(at: path, atMost: matchLengthLimit), let terms = try? JSONValue(parsing: text),
            let names = terms["secrets"]?["public"]
        else { return false }
        return names.array?.isEmpty != true
    }

    /// Whether the path, with symbolic links resolved, is in the project's folder.
    private func isInside(_ path: String) -> Bool {
        let place = URL(filePath: path).resolvingSymlinksInPath().standardizedFileURL.path
        let folder = URL(filePath: project).resolvingSymlinksInPath().standardizedFileURL.path
        return place.hasPrefix(folder == "/" ? folder : folder + "/")
    }

    // MARK: Trust

    private func settleTrust(
        _ tls: inout TrustSettings, over former: TrustSettings, written: [String: SettingsReader.Origin],
        origins: inout [String: SettingsReader.Origin], formerOrigins: [String: SettingsReader.Origin], trustFiles: TrustFiles?,
        problems: inout SettingsProblems
    ) {
        let formerDefault = formerOrigins["tls.default"] ?? SettingsReader.Origin(layer: "settings", place: .none)
        var base: TrustTerms?
        if case .policy(let terms) = former.fallback.meaning { base = terms.withFullPaths(from: formerDefault) }
        func merged(_ proposed: TrustTerms, _ origin: SettingsReader.Origin) -> TrustTerms? {
            let before = problems.count
            for file in proposed.files where !isInside(origin.path(of: file.path)) {
                Self.refuse(
                    file.cursor.path, at: file.cursor.node.place, "\(file.path) is not a file of this project", to: &problems)
            }
            let way = base.map { trustFiles?.connectWay(of: $0) ?? $0.connectWay } ?? .deny
            let terms = StricterTrust.merge(proposed, over: base, way: way, problems: &problems)
            return problems.count == before ? terms : nil
        }
        if let origin = written["tls.default"], case .policy(let proposed) = tls.fallback.meaning,
            let terms = merged(proposed, origin)
        {
            tls.fallback.meaning = .policy(terms)
            base = terms.withFullPaths(from: origin)
        }
        if let origin = written["tls.hosts"] {
            tls.projectHosts = tls.hosts.entries.compactMap { entry in
                merged(entry.terms, origin).map { TrustSettings.ProjectHost(entry: entry.with($0), origin: origin) }
            }
            tls.hosts = former.hosts
            origins["tls.hosts"] = formerOrigins["tls.hosts"]
        }
    }
}

extension SettingsLayer {
    /// How much of the layer is used.
    enum Use: Sendable {
        /// The layer is the user's own: Larder uses all settings.
        case own
        /// The layer is of a project that the user has allowed: Larder uses all settings.
        case whole
        /// The layer is of a project about which the user has not decided: Larder uses only the permitted settings.
        case restricted(ProjectTerms)
    }
}
