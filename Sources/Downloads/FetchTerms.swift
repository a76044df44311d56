import Foundation
import LarderHTTP

/// The options of one run of `larder fetch`, for all its files.
package struct FetchTerms: Sendable {
    package enum Place: Sendable {
        case file(String)
        case folder(String)
        /// An output that is not a file, and gets the whole content.
        case outlet(FetchOutput)
    }

    package var place = Place.folder(".")
    package var overwrites = false
    /// The number of simultaneous ranges of one file.
    package var parts = 1
    /// The number of simultaneous URLs.
    package var atOnce = 4
    /// The limits on consecutive attempts without progress.
    package var retries = RetryPolicy()
    package var fields = SessionFields()
    /// Whether the server may be contacted if a stored response does not match its digest.
    package var mayAskAgain = true
    /// The mode of the files: the default mode without the bits of the umask.
    package var mode: mode_t = 0o644

    package init() {}

    package static let partLimit = 16
    package static let atOnceLimit = 64
    /// The shortest range that a file is split into; the first range has this length.
    static let shortestPart: UInt64 = 4 << 20
    /// How often the transfer of a file starts again because the file has changed.
    static let beginningLimit = 3
}
