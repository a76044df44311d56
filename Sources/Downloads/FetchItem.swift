import Foundation
import HTTPMessage
import HTTPSerialization
import LarderHTTP
import TextCoding

/// A URL to fetch, with its options.
package struct FetchItem: Sendable {
    /// The URL without user name and password.
    let uri: TargetURI
    /// The Authorization field for the server, made of the user name and password in the URL.
    let authorization: String?
    /// The expected digest.
    package var digest: ContentDigest?
    /// The name of the file; `nil`: the name that the response suggests.
    var name: String?
    /// The place of this URL in a list; `nil` if it is from the command line.
    var place: FetchList.Place?

    /// The URL for messages, without parts that may be secret.
    var label: String { printable(uri.descriptionWithoutQuery, limit: 200) }

    /// Parses a URL. Without a scheme, http is assumed.
    package init(_ text: String) throws(FetchFailure) {
        var text = text
        if !text.contains("://") { text = "http://" + text }
        authorization = Self.takeCredentials(out: &text)
        do throws(TargetURI.Fault) { uri = try TargetURI(text) } catch {
            let reason =
                switch error {
                case .scheme: "the scheme is not http or https"
                case .userinfo: "the user name or password is malformed"
                case .host: "the host is missing or invalid"
                case .port: "the port is invalid"
                case .tooLong: "the URL is too long"
                }
            throw FetchFailure(
                .usage, "bad_url", "cannot fetch \(printable(Self.withoutQuery(text), limit: 200)): \(reason)")
        }
    }

    /// The user name and password before the host. They are removed from the URL, so that requests (RFC 9110 §4.2.4) and messages do not
    /// contain them.
    private static func takeCredentials(out text: inout String) -> String? {
        guard let scheme = text.range(of: "://") else { return nil }
        let end = text[scheme.upperBound...].firstIndex { "/?#".contains($0) } ?? text.endIndex
        guard let at = text[scheme.upperBound..<end].lastIndex(of: "@") else { return nil }
        let userinfo = text[scheme.upperBound..<at]
        text.removeSubrange(scheme.upperBound...at)
        let parts = userinfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            .map { $0.removingPercentEncoding ?? String($0) }
        return "Basic " + Base64.encode(Array("\(parts[0]):\(parts.count > 1 ? parts[1] : "")".utf8))
    }

    private static func withoutQuery(_ text: String) -> String { String(text.prefix { $0 != "?" && $0 != "#" }) }
}
