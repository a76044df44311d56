/// What a run's variables say of proxies beside what is set for it.
package struct OtherProxies {
    private let given: [String: String]

    package init(_ given: [String: String]) { self.given = given }

    /// Those that named a proxy, in whose place this one is set.
    package func replaced(by larder: ClientEnvironment) -> [String] {
        ClientVariable.all.compactMap { variable in
            guard case .proxy = variable.meaning, let value = given[variable.name] else { return nil }
            return value.isEmpty || value == larder.proxyURL ? nil : variable.name
        }
    }

    /// Those that go before what is set, and say something of proxies or of whom to believe: nothing takes their place, since they say
    /// more than that.
    package var stronger: [String] {
        let options = Self.optionsOfJava.filter { name in
            given[name].map { value in Self.properties.contains { value.contains($0) } } ?? false
        }
        let git = given.filter { $0.key.hasPrefix("GIT_CONFIG_") && $0.value.lowercased().contains("proxy") }.keys.sorted()
        return options + git + ["CLOUDSDK_PROXY_ADDRESS"].filter { given[$0]?.isEmpty == false }
    }

    /// A command line of Java's, and what is read behind it or put into it.
    private static let optionsOfJava = [
        "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", "MAVEN_OPTS", "GRADLE_OPTS", "SBT_OPTS",
    ]
    private static let properties = ["proxyHost", "proxyPort", "nonProxyHosts", "socksProxy", "trustStore"]
}
