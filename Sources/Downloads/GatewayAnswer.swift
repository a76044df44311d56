import CommandSupport
import Foundation
import LarderHTTP
import TextCoding

/// A response that is not the requested file: Larder's own error response (RFC 9457, RFC 9209), or the server's.
enum GatewayAnswer {
    /// The maximum number of bytes that are read from the body of such a response.
    static let lengthLimit = 16 * 1024

    /// Whether Larder may have generated the response.
    static func isLarders(_ fields: SessionFields) -> Bool {
        fields.contains("Proxy-Status") && fields["Content-Type"] == "application/problem+json"
    }

    /// - Parameter body: the response's body if `isLarders` is true for its fields; otherwise empty.
    static func failure(status: Int, fields: SessionFields, body: [UInt8]) -> FetchFailure {
        let answer = JSONAnswer(String(decoding: body, as: UTF8.self))
        guard let code = answer["code"] as? String, let title = answer["title"] as? String else {
            return ofServer(status, fields)
        }
        var sentence = printable(title, limit: 200)
        if sentence.last == "." { sentence.removeLast() }
        let tls = (answer["tls"] as? [String: Any])?["reason"] as? String
        for detail in [
            answer["detail"] as? String ?? tls, (answer["rule"] as? String).map { "rule \($0)" }, answer["reason"] as? String,
        ] {
            if let detail { sentence += " (\(printable(detail, limit: 200)))" }
        }
        var failure = FetchFailure(
            kind(of: code, status: status), printable(code), sentence, isRetryable: answer["retryable"] as? Bool ?? false)
        failure.retryAfter = fields.retryAfter
        return failure
    }

    private static func ofServer(_ status: Int, _ fields: SessionFields) -> FetchFailure {
        let isRetryable = RetryPolicy.standard.statuses.contains(status)
        var failure = FetchFailure(
            .status, "status_\(status)", "the server responded with status \(status)", isRetryable: isRetryable)
        failure.retryAfter = fields.retryAfter
        return failure
    }

    /// The kind of failure for a code of Larder's error pages. These codes are public.
    private static func kind(of code: String, status: Int) -> FetchFailure.Kind {
        switch code {
        case "certificate_not_trusted", "recorded_chain_not_trusted", "no_trust_anchors", "plaintext_to_pinned_host",
            "client_certificate_required":
            .trust
        case "offline_miss", "cache_miss_only_if_cached": .refused
        case "bad_url", "request_malformed", "request_fields_too_large", "target_too_long": .usage
        case "dns_error", "timeout", "connection_refused", "connection_terminated", "destination_unroutable", "queue_full",
            "upstream_proxy_refused", "tls_handshake_refused", "tls_handshake_failed", "response_incomplete":
            .network
        case "unacceptable_status", "unacceptable_content_type", "malformed_json", "malformed_xml", "malformed_plist",
            "malformed_image", "image_too_large", "none_accepts", "malformed_coding", "unsupported_coding", "body_too_large",
            "transform_failed":
            .refused
        default: [403, 405, 407].contains(status) ? .refused : .failed
        }
    }
}
