import Foundation
import LarderHTTP

/// Why a URL was not fetched: a kind, which determines the exit code, and a sentence.
package struct FetchFailure: Error, Sendable {
    /// The kinds have the names that `--json` prints; docs/fetch.md lists them.
    package enum Kind: String, Sendable, CaseIterable {
        /// Larder itself failed, or the response was not HTTP.
        case failed
        case usage
        /// The file cannot be written, or it already exists.
        case file
        /// A rule or the settings deny the request, or requests may not be forwarded and no stored response can be used.
        case refused
        /// The content does not match its digest.
        case digest
        /// The server is not trusted, because of its certificate or its pins.
        case trust
        /// The server cannot be reached, or the connection broke.
        case network
        /// The server's response does not contain the file.
        case status
        case interrupted

        /// Exit code 6 is not used here: in other commands it means that responses differ.
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
    /// The code of the failure, for programs.
    let code: String
    /// The message for people; it contains no secrets.
    package let sentence: String
    /// Whether a retry may succeed.
    var isRetryable = false
    /// The time that the server asks to wait before a retry.
    var retryAfter: Duration?
    /// Whether the failure concerns a stored response; the server may have a different one.
    var isAboutStored = false

    package init(_ kind: Kind, _ code: String, _ sentence: String, isRetryable: Bool = false) {
        self.kind = kind
        self.code = code
        self.sentence = sentence
        self.isRetryable = isRetryable
    }

    /// The same failure with another sentence.
    func saying(_ sentence: String) -> FetchFailure {
        var failure = FetchFailure(kind, code, sentence, isRetryable: isRetryable)
        failure.retryAfter = retryAfter
        failure.isAboutStored = isAboutStored
        return failure
    }

    static let interrupted = FetchFailure(.interrupted, "interrupted", "interrupted")

    /// - Parameter error: an `errno`.
    static func file(_ path: String, _ what: String, _ error: Int32) -> FetchFailure {
        FetchFailure(.file, "file_failed", "cannot \(what) \(path): \(String(cString: strerror(error)))")
    }
}

extension FetchFailure {
    /// A failure of the connection to Larder or of the session.
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
