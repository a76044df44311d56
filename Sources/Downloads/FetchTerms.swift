import Foundation
import HTTPSession

/// How files are fetched, for all that one call fetches.
package struct FetchTerms: Sendable {
    package enum Place: Sendable {
        case file(String)
        case folder(String)
        /// What gets the whole, and is no file.
        case outlet(FetchOutput)
    }

    package var place = Place.folder(".")
    package var overwrites = false
    /// Ranges of one file that are fetched at once.
    package var parts = 1
    /// URLs that are.
    package var atOnce = 4
    /// With tries that bring nothing, one after the other.
    package var retries = RetryPolicy()
    package var fields = HTTPFields()
    /// Whether the server may be asked for what is stored as well.
    package var mayAskAgain = true
    /// Of the files, by the umask.
    package var mode: mode_t = 0o644

    package init() {}

    package static let partLimit = 16
    package static let atOnceLimit = 64
    /// No file is cut into smaller ones, and the first is as long.
    static let shortestPart: UInt64 = 4 << 20
    /// Times that one file is begun anew because it is another one by now.
    static let beginningLimit = 3
}
