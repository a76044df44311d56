import Foundation
import ProxyPolicy
import ServerTrust

/// The place in the settings where a trust policy is written, and the policy's text.
package struct SettingsLocation: Sendable {
    /// The host or pattern, with its policy; `nil` for the default policy.
    package let entry: TrustEntry?
    package let terms: TrustTerms
    package let origin: SettingsReader.Origin
    /// Whether the policy is in a file of `tls.pins_from`. Larder may write these files.
    package let isIncluded: Bool

    /// The name of the file, or of another source.
    package var source: String { origin.layer }

    /// `FILE:LINE:COLUMN`; only the name of the source if the source is not a file.
    package var position: String { LocatedProblem.position(of: entry?.place ?? origin.place, in: origin.layer) }

    /// The text of the policy for use in another file, without its pins. Paths of files are full paths.
    package var wordsWithoutPins: [(key: String, value: ShownValue)] {
        terms.words.filter { !["pins", "mode", "enforce_from", "labels"].contains($0.key) }.map { key, value in
            switch (key, value) {
            case ("anchors", .mapping(let members)):
                (key, .mapping(members.map { ($0.key, $0.key == "bundle" ? fullPath($0.value) : $0.value) }))
            case ("crl_files", .list(let files)): (key, .list(files.map(fullPath)))
            case ("crl_files", _): (key, fullPath(value))
            default: (key, value)
            }
        }
    }

    private func fullPath(_ value: ShownValue) -> ShownValue {
        switch value {
        case .plain(let name), .text(let name): .text(URL(filePath: origin.path(of: name)).standardizedFileURL.path)
        case .list, .mapping: value
        }
    }
}
