import ArgumentParser

/// Which access log is learned from.
enum AccessLogSource: CustomStringConvertible {
    /// The one that the settings name.
    case settings
    /// `-` is standard input.
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
