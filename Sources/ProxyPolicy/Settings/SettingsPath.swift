/// The position of a value in the settings. It becomes text only when a problem needs the text, since files have many values and few
/// problems.
indirect enum SettingsPath: Sendable {
    case root(String)
    case key(String, of: SettingsPath)
    case element(Int, of: SettingsPath)

    var text: String {
        switch self {
        case .root(let text): text
        case .key(let key, let path): SettingsText.path(path.text, key: key)
        case .element(let number, let path): "\(path.text)[\(number)]"
        }
    }
}
