import Foundation
import ProxyPolicy
import ServerTrust

/// Where a policy is written, and in which words.
package struct SettingsLocation: Sendable {
    /// `nil` for what holds for all others.
    package let entry: TrustEntry?
    package let terms: TrustTerms
    package let origin: SettingsReader.Origin
    /// It stands in a file of `tls.pins_from`, which Larder may write.
    package let isIncluded: Bool

    /// The file, or what stands for one.
    package var source: String { origin.layer }

    /// `FILE:LINE:COLUMN`, as far as there is one.
    package var position: String { LocatedProblem.position(of: entry?.place ?? origin.place, in: origin.layer) }

    /// The words for a policy of another file that judges as this one, but for its pins: the files that it names by their full paths.
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
