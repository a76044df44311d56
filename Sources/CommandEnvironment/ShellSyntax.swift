import HTTPMessage
import TextCoding

/// Formats variables for a shell or a program that sets them. Every value is quoted so that no character has a special meaning.
package enum ShellSyntax: String, CaseIterable {
    case sh, fish, pwsh, json, dotenv, docker, apt, gradle

    package func text(_ environment: ClientEnvironment, over given: [String: String]) -> String {
        let variables = environment.variables(over: given)
        switch self {
        case .sh: return Self.lines(variables) { "export \($0)=\(ShellWord.quoted($1))" }
        case .fish: return Self.lines(variables) { "set -gx \($0) \(Self.fishQuoted($1))" }
        case .pwsh: return Self.lines(variables) { "$env:\($0) = \(Self.pwshQuoted($1))" }
        case .json: return JSONText.object(variables.map { ($0.name, .string($0.value)) }).written() + "\n"
        case .dotenv: return Self.lines(variables) { "\($0)=\(Self.dotenvQuoted($1))" }
        case .docker: return Self.docker(environment)
        case .apt: return ClientSettingsText(environment: environment, given: given).aptLines.map { "\($0)\n" }.joined()
        case .gradle: return Self.gradle(environment)
        }
    }

    private static func lines(_ variables: [(name: String, value: String)], _ line: (String, String) -> String) -> String {
        variables.map { line($0.name, $0.value) + "\n" }.joined()
    }

    /// Within single quotes, only a backslash before one of these two characters has a special meaning.
    static func fishQuoted(_ value: String) -> String {
        "'\(value.escaped { $0 == "\\" || $0 == "'" ? "\\\($0)" : nil })'"
    }

    /// PowerShell also treats typographic quotes as single quotes. A doubled quote of either kind is a literal character.
    static func pwshQuoted(_ value: String) -> String {
        "'\(value.escaped { "'\u{2018}\u{2019}\u{201A}\u{201B}".unicodeScalars.contains($0) ? "\($0)\($0)" : nil })'"
    }

    /// Programs read `.env` files with different rules. So the value is written without quotes if possible, else in single
    /// quotes, else in double quotes with escapes.
    static func dotenvQuoted(_ value: String) -> String {
        let isPlain = value.utf8.allSatisfy { octet in
            (0x30...0x39).contains(octet) || (0x41...0x5A).contains(octet) || (0x61...0x7A).contains(octet)
                || "/:._-,[]".utf8.contains(octet)
        }
        if isPlain { return value }
        if !value.holds(anyOf: "'\n\r") { return "'\(value)'" }
        let escaped = value.escaped { scalar in
            switch scalar {
            case "\"", "\\", "$", "`": "\\\(scalar)"
            case "\n": "\\n"
            case "\r": "\\r"
            default: nil
            }
        }
        return "\"\(escaped)\""
    }

    /// The build arguments that every Docker build accepts without a declaration in the Dockerfile. A loopback address can be reached only
    /// with the host's network.
    private static func docker(_ environment: ClientEnvironment) -> String {
        let names = ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"]
        let network = environment.proxy.isLoopback ? ["--network=host"] : []
        return (network + names.map { "--build-arg \($0)=\(environment.proxyURL)" } + ["--build-arg no_proxy="])
            .map { "\($0)\n" }.joined()
    }

    /// Lines for `gradle.properties`.
    private static func gradle(_ environment: ClientEnvironment) -> String {
        let trust = environment.carriesTrust ? JavaProperty.trust(environment.files) : []
        return (JavaProperty.all(proxy: environment.proxy) + trust).map {
            "systemProp.\($0.name)=\(propertyQuoted($0.value))\n"
        }.joined()
    }

    /// Escapes for Java's `Properties`: characters other than plain ASCII as UTF-16 code units.
    static func propertyQuoted(_ value: String) -> String {
        value.utf16.map { unit -> String in
            let isPlain = (0x21...0x7E).contains(unit) && unit != UInt16(UInt8(ascii: "\\"))
            if isPlain { return String(UnicodeScalar(UInt8(unit))) }
            return "\\u" + Hexadecimal.encode(padded: unit)
        }.joined()
    }
}
