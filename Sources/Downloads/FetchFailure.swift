import Foundation
import HTTPSession

/// Why a URL was not fetched: one class, from which the exit code comes, and a sentence.
package struct FetchFailure: Error, Sendable {
    /// The words are those of `--json`; docs/fetch.md has the table.
    package enum Kind: String, Sendable, CaseIterable {
        /// Larder could not do its part, or what came was no HTTP.
        case failed
        case usage
        /// The file cannot be written, or there is one already.
        case file
        /// A rule or the settings do not let it pass, or nothing that is stored can be used while nothing may be asked for.
        case refused
        /// It is not what its digest says.
        case digest
        /// The server is not believed: its certificate, its pins.
        case trust
        /// There is no way to the server, or the way broke off.
        case network
        /// The server answers, and not with the file.
        case status
        case interrupted

        /// 6 is not used: elsewhere it tells of a difference.
        package var exitCode: Int32 {
            switch self {
            case .failed, .interrupted: 1
            case .usage: 2
            case .file: 3
            case .refused: 4
            case .digest: 5
            case .trust: 7
            case .network: 8
            case .status: 9
            }
        }
    }

    package let kind: Kind
    /// A word for programs.
    let code: String
    /// For people; without secrets.
    package let sentence: String
    /// Whether another try may bring more.
    var isRetryable = false
    /// What the server asks to wait before that.
    var retryAfter: Duration?
    /// Whether it is about what came from the store, where the server may have something else.
    var isAboutStored = false

    package init(_ kind: Kind, _ code: String, _ sentence: String, isRetryable: Bool = false) {
        self.kind = kind
        self.code = code
        self.sentence = sentence
        self.isRetryable = isRetryable
    }

    /// The same failure in more words.
    func saying(_ sentence: String) -> FetchFailure {
        var failure = FetchFailure(kind, code, sentence, isRetryable: isRetryable)
        failure.retryAfter = retryAfter
        failure.isAboutStored = isAboutStored
        return failure
    }

    static let interrupted = FetchFailure(.interrupted, "interrupted", "interrupted")

    /// - Parameter error: the system's number.
    static func file(_ path: String, _ what: String, _ error: Int32) -> FetchFailure {
        FetchFailure(.file, "file_failed", "cannot \(what) \(path): \(String(cString: strerror(error)))")
    }
}

extension FetchFailure {
    /// What befell on the way to Larder or in the session.
    init(_ error: SessionError) {
        let detail = error.causes.first?.detail ?? ""
        let words = error.code.rawValue.replacing("_", with: " ")
        let sentence = detail.isEmpty ? words : "\(words): \(detail)"
        switch error.code {
        case .cancelled: self = .interrupted
        case .badURL, .malformedRequest: self.init(.usage, error.code.rawValue, sentence)
        case .redirectRefused, .tooManyRedirects: self.init(.status, error.code.rawValue, sentence)
        case .incompleteResponse, .connectionTerminated:
            self.init(.network, error.code.rawValue, "the connection closed early", isRetryable: true)
        case .timeout, .connectionRefused, .connectionFailed, .dnsError:
            self.init(.network, error.code.rawValue, sentence, isRetryable: true)
        default: self.init(.failed, error.code.rawValue, sentence)
        }
    }
}
