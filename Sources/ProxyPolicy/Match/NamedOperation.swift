import HTTPMessage

/// A common operation of a client, such as `git fetch`, as a rule names it: `match: {operation: git-fetch}`.
///
/// A request belongs to an operation if it is one of the operation's `requests`. The fields of the request are not compared, since a
/// client can send any fields.
package enum NamedOperation: String, CaseIterable, Sendable {
    case gitFetch = "git-fetch"
    case gitPush = "git-push"
    case registryPull = "registry-pull"
    case registryPush = "registry-push"
    case npmInstall = "npm-install"
    case npmPublish = "npm-publish"
    case pipInstall = "pip-install"
    case apt
    case cargo
    case goModules = "go-modules"
    case maven
    case readOnly = "read-only"

    /// The operation that the user probably meant. A table of command names is tried first: `git-pull` is a `git-fetch`, although its
    /// spelling is nearer to `git-push`.
    package static func nearest(to text: String) -> String? {
        otherNames[text.lowercased()]?.rawValue ?? NearestName.of(text, among: allCases.lazy.map(\.rawValue))
    }

    private static let otherNames: [String: Self] = [
        "git-clone": .gitFetch, "git-pull": .gitFetch, "docker-pull": .registryPull, "docker-push": .registryPush,
        "npm": .npmInstall, "npm-ci": .npmInstall, "pip": .pipInstall, "apt-get": .apt, "apt-install": .apt, "go": .goModules,
        "go-mod": .goModules, "mvn": .maven,
    ]
}

extension NamedOperation {
    /// Some requests of an operation. A request matches if it has one of the methods, one of the paths (globs; an empty list matches
    /// every path), and all of the query parameters.
    struct Requests {
        let methods: [String]
        let paths: [String]
        let query: [String: String]

        init(_ methods: [String], _ paths: [String] = [], query: [String: String] = [:]) {
            self.methods = methods
            self.paths = paths
            self.query = query
        }
    }

    /// The conditions for the operation: each request of the operation meets at least one of them.
    /// - Parameter folders: globs such as `/npm`. A path of the operation that does not begin with `/**` begins at the root of the
    ///   host, or at one of these folders.
    /// - Throws: if a folder and a path together are too long for a pattern.
    package func conditions(below folders: [String]) throws(PathPattern.Fault) -> [RuleCondition] {
        guard var conditions = Self.compiled[self] else { preconditionFailure("every operation is compiled") }
        for (index, requests) in requests.enumerated() {
            for path in requests.paths where !path.hasPrefix("/**") {
                for folder in folders { conditions[index].paths.append(try PathPattern(folder + path)) }
            }
        }
        return conditions
    }

    /// The conditions at the root of a host. All rules share them: a file may have many rules, and each pattern has large tables.
    private static let compiled = Dictionary(uniqueKeysWithValues: allCases.map { ($0, $0.requests.map(\.condition)) })
}

extension NamedOperation.Requests {
    fileprivate var condition: RuleCondition {
        var condition = RuleCondition()
        condition.methods = methods.map { method in
            guard let name = RuleCondition.MethodName(method) else { preconditionFailure("\(method) is no method") }
            return name
        }
        condition.paths = paths.map { path in
            do { return try PathPattern(path) } catch { preconditionFailure("\(path) is no path: \(error)") }
        }
        condition.queries = query.map { name, value in
            guard let pattern = ValuePattern(value), let query = QueryCondition(name: name, values: [pattern]) else {
                preconditionFailure("\(name)=\(value) is no parameter")
            }
            return query
        }
        return condition
    }
}
