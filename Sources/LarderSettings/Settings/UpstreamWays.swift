import CommandSupport
import ProxyPolicy
import UpstreamTransport

extension LarderSettings.Upstream {
    /// The ways to the origins that rules may name.
    package var allWays: [UpstreamWay] {
        var result = [UpstreamWay.direct]
        if let proxy = proxy.flatMap({ UpstreamProxyAddress($0)?.proxy }) {
            result.append(UpstreamWay(name: "proxy", kind: .proxy(proxy)))
        }
        for way in ways {
            let proxies = way.addresses.map { $0.proxy(with: way.loadedCredentials) }
            switch way.kind {
            case .proxy: result.append(UpstreamWay(name: way.name, kind: .proxy(proxies[0])))
            case .parents: result.append(UpstreamWay(name: way.name, kind: .parents(ParentGroup(proxies))))
            }
        }
        return result
    }

    /// The name of the way for requests for which no rule names a way.
    package var usualWay: String { way ?? (proxy == nil ? "direct" : "proxy") }

    package func usual(among ways: [UpstreamWay]) -> UpstreamWay { ways.first { $0.name == usualWay } ?? .direct }

    /// The usual way in a few words, for people; `nil` if it is direct.
    package var usualWaySummary: String? {
        if usualWay == "proxy" { return proxy.flatMap { UpstreamProxyAddress($0) }.map { "proxy (\($0.redacted))" } }
        return ways.first { $0.name == usualWay }?.summary
    }

    /// Whether requests for which no rule names a way go through a proxy or parents.
    package var leadsThroughProxy: Bool { usualWay != "direct" }
}

/// Checks the names of ways, and reads their credentials.
enum UpstreamWayLoading {
    /// - Parameter source: the name of the file of a place in the layer of the rules.
    static func problems(
        in settings: LarderSettings, origins: [String: SettingsReader.Origin], rulesSource source: (SettingsPlace) -> String
    ) -> [LocatedProblem] {
        let upstream = settings.upstream
        var problems: [LocatedProblem] = []
        func report(_ name: String, _ message: String, at place: SettingsPlace? = nil, suggestion: String? = nil) {
            let origin = origins[name] ?? SettingsReader.Origin(layer: "settings", place: .none)
            let problem = SettingsProblem(message, path: name, at: place ?? origin.place, suggestion: suggestion)
            problems.append(LocatedProblem(source: origin.layer, problem: problem))
        }
        var known = ["direct"]
        if upstream.proxy != nil { known.append("proxy") }
        for way in upstream.ways {
            if known.contains(way.name) { report("upstream.ways", "the way `\(way.name)` occurs twice", at: way.place) }
            known.append(way.name)
        }
        func message(_ name: String) -> String {
            "no way has the name `\(name)`: expected one of \(known.joined(separator: ", "))"
        }
        if let way = upstream.way {
            if !known.contains(way) { report("upstream.way", message(way), suggestion: NearestName.of(way, among: known)) }
            if upstream.proxy != nil {
                report(
                    "upstream.proxy", "set upstream.way or upstream.proxy, not both: write the proxy's address into upstream.ways"
                )
            }
        }
        for rule in settings.rules.compiled.rules {
            guard let choice = rule.upstream, !known.contains(choice.name) else { continue }
            let problem = SettingsProblem(
                "the rule `\(rule.name)`: " + message(choice.name), path: "rules", at: choice.place,
                suggestion: NearestName.of(choice.name, among: known))
            problems.append(LocatedProblem(source: source(choice.place), problem: problem))
        }
        return problems
    }

    /// Reads the credentials that the ways refer to.
    static func load(
        _ upstream: inout LarderSettings.Upstream, _ environment: [String: String], origins: [String: SettingsReader.Origin]
    ) -> [LocatedProblem] {
        guard let origin = origins["upstream.ways"] else { return [] }
        var problems: [LocatedProblem] = []
        for (index, way) in upstream.ways.enumerated() {
            guard let reference = way.credentials else { continue }
            func report(_ message: String) {
                let problem = SettingsProblem(message, path: "upstream.ways", at: way.credentialsPlace)
                problems.append(LocatedProblem(source: origin.layer, problem: problem))
            }
            do throws(LocalFile.Unreadable) {
                let bytes = try reference.bytes(environment, from: origin)
                guard let credentials = UpstreamCredentials(String(decoding: bytes, as: UTF8.self)) else {
                    report("\(reference.description) must contain `user:password`")
                    continue
                }
                upstream.ways[index].loadedCredentials = credentials
            } catch {
                report("cannot read \(reference.description): \(error.reason)")
            }
        }
        return problems
    }
}
