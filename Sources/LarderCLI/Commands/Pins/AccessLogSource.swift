import ArgumentParser

/// The access log to learn pins from.
enum AccessLogSource: CustomStringConvertible {
    /// The log that the settings name.
    case settings
    /// The log at this path; `-` is standard input.
    case file(String)

    var description: String {
        switch self {
        case .settings: "log.access.path"
        case .file(let path): path
        }
    }
}

extension AccessLogSource: ExpressibleByArgument {
    init?(argument: String) { self = .file(argument) }
}
