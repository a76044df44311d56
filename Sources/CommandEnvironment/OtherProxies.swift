/// A run's variables that configure proxies in addition to those that Larder sets.
package struct OtherProxies {
    private let given: [String: String]

    package init(_ given: [String: String]) { self.given = given }

    /// The variables that named a proxy and are replaced by Larder's.
    package func replaced(by larder: ClientEnvironment) -> [String] {
        ClientVariable.all.compactMap { variable in
            guard case .proxy = variable.meaning, let value = given[variable.name] else { return nil }
            return value.isEmpty || value == larder.proxyURL ? nil : variable.name
        }
    }

    /// The variables with proxy or trust options that override the variables that Larder sets. They stay unchanged, since they contain
    /// other options too.
    package var stronger: [String] {
        let options = Self.optionsOfJava.filter { name in
            given[name].map { value in Self.properties.contains { value.contains($0) } } ?? false
        }
        let git = given.filter { $0.key.hasPrefix("GIT_CONFIG_") && $0.value.lowercased().contains("proxy") }.keys.sorted()
        return options + git + ["CLOUDSDK_PROXY_ADDRESS"].filter { given[$0]?.isEmpty == false }
    }

    /// Variables with Java options that are added to the command line or read after it.
    private static let optionsOfJava = [
        "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS",
    ]
    private static let properties = ["proxyHost", "proxyPort", "nonProxyHosts", "socksProxy", "trustStore"]
}
