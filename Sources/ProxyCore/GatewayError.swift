import HTTPCaching
import HTTPMessage

/// How a fault is told to the client: one row for each fault.
///
/// Source: RFC 9110 §15 (status), RFC 9209 §2.3 (Proxy-Status error types), RFC 9457 (problem details, which carry `code`).
package struct GatewayError: Equatable, Sendable {
    package enum Origin: UInt8, Sendable { case client, policy, upstream, larder }

    package let status: Status
    /// The public name of the error; part of the API.
    package let code: StaticToken
    /// The Proxy-Status error type, or an empty word where none fits.
    package let proxyStatus: StaticToken
    package let origin: Origin
    /// Whether the same request may succeed when it is sent again later.
    package let isRetryable: Bool
    /// One sentence for a person.
    package let explanation: StaticToken
    /// The finer reason, where the fault carries one.
    package let detail: StaticToken?
    /// Whether the Proxy-Status error type says what the code says, so that the finer reason stands alone in the details.
    let isToldByType: Bool
    /// Whether the client's connection cannot be used further, whatever its framing says.
    package let closesConnection: Bool

    private init(
        _ status: UInt16, _ code: StaticToken, _ proxyStatus: StaticToken, _ origin: Origin, _ explanation: StaticToken,
        retry: Bool = false,
        detail: StaticToken? = nil, isToldByType: Bool = false, closes: Bool = false
    ) {
        self.status = Status(status)
        self.code = code
        self.proxyStatus = proxyStatus
        self.origin = origin
        self.explanation = explanation
        self.isRetryable = retry
        self.detail = detail
        self.isToldByType = isToldByType
        self.closesConnection = closes
    }

    package init(_ fault: Fault) {
        switch fault {
        case .malformedRequest(let detail):
            self.init(
                400, "request_malformed", "http_request_error", .client, "The request is not well-formed HTTP.",
                detail: detail, closes: true)
        case .badTarget(let detail):
            self.init(
                400, "bad_url", "http_request_error", .client, "The request target is not one that a proxy can use.",
                detail: detail, closes: true)
        case .targetTooLong:
            self.init(
                414, "target_too_long", "http_request_error", .client, "The request line is longer than the limit.",
                closes: true)
        case .requestFieldsTooLarge(let detail):
            self.init(
                431, "request_fields_too_large", "http_request_error", .client,
                "The request's fields are larger than the limit.", detail: detail, closes: true)
        case .requestBodyTooLarge:
            self.init(
                413, "request_body_too_large", "http_request_error", .client,
                "The request's body is larger than the limit.", closes: true)
        case .unknownTransferCoding:
            self.init(
                501, "unknown_transfer_coding", "http_request_error", .client,
                "The request uses a transfer coding that is not known here.", closes: true)
        case .unsupportedVersion:
            self.init(
                505, "version_not_supported", "http_request_error", .client,
                "Only HTTP/1.0 and HTTP/1.1 are spoken here.", closes: true)
        case .unknownExpectation:
            self.init(
                417, "unknown_expectation", "http_request_error", .client,
                "The expectation in the request cannot be met.", closes: true)
        case .requestTimeout:
            self.init(
                408, "request_timeout", "http_request_error", .client, "The request did not arrive in time.",
                retry: true, closes: true)
        case .notForAProxy:
            self.init(
                400, "not_a_proxy_request", "http_request_error", .client,
                "This is a proxy: set it as http_proxy, or ask for an absolute URL.")
        case .misdirectedRequest(let detail):
            self.init(
                421, "misdirected_request", "http_request_error", .client,
                "The request is for another origin than the tunnel in which it came.", detail: detail)
        case .foreignHost:
            self.init(
                403, "foreign_host", "http_request_denied", .policy,
                "The Host field names another server than this proxy: ask for it by the address at which it listens.")
        case .crossSite:
            self.init(
                403, "cross_site", "http_request_denied", .policy, "Pages of other sites get nothing of this proxy.")
        case .noAuthority:
            self.init(
                404, "no_authority", "proxy_configuration_error", .client,
                "No certificate authority is in use here: larder ca init makes one, and a host with the setting connect: intercept uses it."
            )
        case .onlyIfCachedMiss(let detail):
            self.init(
                504, StaticToken(ReuseDecision.notSatisfiableWord), "destination_unavailable", .policy,
                "Only a stored response was asked for, and none can be used.", detail: detail)
        case .offlineMiss(let detail):
            self.init(
                504, StaticToken(ReuseDecision.offlineMissWord), "destination_unavailable", .policy,
                "This proxy is offline: nothing may leave it, and nothing stored can be used.", detail: detail)
        case .recordingDamaged:
            self.init(
                500, "recording_damaged", "proxy_internal_error", .larder,
                "What was recorded cannot be read, or is not what was recorded.")
        case .loop:
            self.init(
                508, "loop_detected", "proxy_loop_detected", .client, "The request has come back to where it was before.")
        case .deniedByRule:
            self.init(403, "denied_by_rule", "http_request_denied", .policy, "A rule denies this request.")
        case .clientNotAllowed:
            self.init(
                403, "client_not_allowed", "http_request_denied", .policy,
                "This client is not on the list of those allowed.", closes: true)
        case .credentialsRequired(let reason):
            self.init(
                407, "proxy_authentication_required", "http_request_denied", .policy,
                "This proxy serves who sends a name and a password that it knows.", detail: reason)
        case .tooManyAttempts:
            self.init(
                429, "too_many_attempts", "http_request_denied", .policy,
                "Too many passwords were tried from this address.", retry: true, closes: true)
        case .portNotAllowed:
            self.init(
                403, "port_not_allowed", "http_request_denied", .policy, "Tunnels to this port are not allowed.")
        case .hostDenied:
            self.init(
                403, "host_denied", "http_request_denied", .policy,
                "The settings deny this host: tls.hosts does not name it, and tls.default is deny.")
        case .connectDenied:
            self.init(
                403, "connect_denied", "http_request_denied", .policy, "The settings (tls) deny CONNECT to this host.")
        case .recordedChainRefused(let reason):
            self.init(
                504, "recorded_chain_not_trusted", "tls_certificate_error", .policy,
                "The host cannot be asked, and the trust policy does not accept the certificates with which the stored answer came.",
                retry: true, detail: reason, isToldByType: true)
        case .clientRefusedCertificate(let alert):
            self.init(
                403, "client_refused_certificate", "tls_alert_received", .client,
                "The client does not believe the certificate that it was shown: it does not trust the authority of this proxy.",
                detail: alert)
        case .clientHandshakeFailed(let reason):
            self.init(
                400, "client_handshake_failed", "http_request_error", .client, "TLS with the client came to no end.",
                detail: reason)
        case .noCertificate(let reason):
            self.init(
                403, "no_certificate_for_host", "http_request_denied", .policy,
                "The host is to be intercepted, and the authority of this proxy makes no certificate for it.", detail: reason)
        case .tunnelRefused(let reason):
            self.init(
                403, "tunnel_refused", "http_request_denied", .policy,
                "What the client sends first in the tunnel does not agree with the host that it asked for.", detail: reason)
        case .hostMismatch:
            self.init(
                403, "host_mismatch", "http_request_denied", .policy, "The Host field and the URL name different hosts.")
        case .destinationProhibited:
            self.init(
                403, "destination_prohibited", "destination_ip_prohibited", .policy,
                "The destination's address is one that may not be reached.")
        case .plaintextToPinnedHost:
            self.init(
                403, "plaintext_to_pinned_host", "http_request_denied", .policy,
                "The host's keys are pinned, and what comes in plain text shows none.")
        case .purgeOff:
            self.init(
                405, "purge_off", "http_request_denied", .policy, "PURGE is not served here: clients.purge names nobody.")
        case .purgeNotAllowed:
            self.init(
                403, "purge_not_allowed", "http_request_denied", .policy, "This client is not among those who may purge.")
        case .nameNotFound:
            self.init(502, "dns_error", "dns_error", .upstream, "The host's name was not found.", retry: true)
        case .nameLookUpTimeout:
            self.init(
                504, "timeout", "dns_timeout", .upstream, "Looking up the host's name took too long.", retry: true,
                detail: "name_look_up")
        case .connectionRefused:
            self.init(
                502, "connection_refused", "connection_refused", .upstream, "The host refused the connection.",
                retry: true)
        case .connectionTimeout:
            self.init(
                504, "timeout", "connection_timeout", .upstream, "The host did not accept the connection in time.",
                retry: true, detail: "connect")
        case .connectionTerminated:
            self.init(
                502, "connection_terminated", "connection_terminated", .upstream,
                "The host closed the connection before it answered.", retry: true)
        case .destinationUnroutable:
            self.init(
                502, "destination_unroutable", "destination_ip_unroutable", .upstream,
                "There is no way to the host's address.", retry: true)
        case .upstreamQueueFull:
            self.init(
                503, "queue_full", "connection_limit_reached", .larder, "Too many requests wait for this host.",
                retry: true)
        case .upstreamQueueTimeout:
            self.init(
                503, "queue_full", "connection_limit_reached", .larder, "No connection to this host became free in time.",
                retry: true, detail: "queue_wait")
        case .upstreamProxyRefused:
            self.init(
                502, "upstream_proxy_refused", "destination_unavailable", .upstream,
                "The proxy further up refused the connection.")
        case .untrustedServer(let reason):
            self.init(
                502, "certificate_not_trusted", "tls_certificate_error", .upstream,
                "The host's certificate is not one that the trust policy accepts. Nothing of the request was sent.",
                detail: reason, isToldByType: true)
        case .handshakeAlert(let description):
            self.init(
                502, "tls_handshake_refused", "tls_alert_received", .upstream, "The host refused the TLS handshake.",
                detail: description, isToldByType: true)
        case .clientCertificateRequired:
            self.init(
                502, "client_certificate_required", "tls_alert_received", .upstream,
                "The host wants a client certificate, and the settings have none for it.")
        case .handshakeFailed:
            self.init(
                502, "tls_handshake_failed", "tls_protocol_error", .upstream, "The TLS handshake with the host failed.")
        case .responseTimeout(let phase):
            self.init(
                504, "timeout", "http_response_timeout", .upstream, "The host did not answer in time.", retry: true,
                detail: phase)
        case .malformedResponse(let detail):
            self.init(
                502, "response_malformed", "http_protocol_error", .upstream, "The host's answer is not well-formed HTTP.",
                detail: detail)
        case .responseFieldsTooLarge:
            self.init(
                502, "response_fields_too_large", "http_response_header_section_size", .upstream,
                "The answer's fields are larger than the limit.")
        case .responseIncomplete:
            self.init(
                502, "response_incomplete", "http_response_incomplete", .upstream,
                "The host closed the connection in the middle of its answer.", retry: true)
        case .unexpectedUpgrade:
            self.init(
                502, "unexpected_upgrade", "http_upgrade_failed", .upstream,
                "The host changed the protocol without having been asked.")
        case .unexpectedNotModified:
            self.init(
                502, "unexpected_not_modified", "http_protocol_error", .upstream,
                "The host says that nothing has changed, without having been asked.")
        case .unacceptableStatus:
            self.init(
                502, "unacceptable_status", "http_protocol_error", .policy, "A rule does not accept this status.")
        case .unacceptableContentType:
            self.init(
                502, "unacceptable_content_type", "http_protocol_error", .policy,
                "A rule does not accept this content type.")
        case .malformedJSON:
            self.init(
                502, "malformed_json", "http_protocol_error", .policy, "A rule asks for JSON, and this is not.")
        case .noneAccepts:
            self.init(
                502, "none_accepts", "http_protocol_error", .policy,
                "A rule asks for one of several formats, and this is none of them.")
        case .malformedXML:
            self.init(
                502, "malformed_xml", "http_protocol_error", .policy,
                "A rule asks for XML, and this is not, or declares what it may not.")
        case .malformedPropertyList:
            self.init(
                502, "malformed_plist", "http_protocol_error", .policy, "A rule asks for a property list, and this is not.")
        case .malformedImage:
            self.init(
                502, "malformed_image", "http_protocol_error", .policy,
                "A rule asks for an image, and this is not, or is another than its type says.")
        case .imageTooLarge:
            self.init(
                502, "image_too_large", "http_protocol_error", .policy,
                "A rule asks for an image, and this one says that it is larger than the limit.")
        case .malformedCoding:
            self.init(
                502, "malformed_coding", "http_response_content_coding", .policy,
                "A rule checks the body, and its content coding does not decode.")
        case .unsupportedCoding:
            self.init(
                502, "unsupported_coding", "http_response_content_coding", .policy,
                "A rule checks the body, and its content coding cannot be read.")
        case .responseBodyTooLarge:
            self.init(
                502, "body_too_large", "http_response_body_size", .policy,
                "A rule checks the body, and it is larger than the limit.")
        case .transformFailed(let fault):
            self.init(
                502, "transform_failed", fault.proxyStatus, .policy,
                "A rule wants something made of the content, and that cannot be done.", retry: fault == .timedOut,
                detail: StaticToken(fault.word))
        case .noTrustAnchors:
            self.init(
                500, "no_trust_anchors", "proxy_configuration_error", .larder,
                "There are no certificates to judge the host's by, so https hosts are not asked.")
        case .overloaded:
            self.init(
                503, "overloaded", "connection_limit_reached", .larder, "There are too many connections.", retry: true,
                closes: true)
        case .checkQueueFull:
            self.init(
                503, "check_queue_full", "proxy_internal_error", .larder,
                "Too many bodies wait to be checked, or too large ones.", retry: true)
        case .requestBodiesFull:
            self.init(
                503, "request_bodies_full", "proxy_internal_error", .larder,
                "The bodies of other requests take all the memory that there is for them until they have come whole.", retry: true
            )
        case .credentialsQueueFull:
            self.init(
                503, "authentication_queue_full", "proxy_internal_error", .larder, "Too many passwords wait to be looked at.",
                retry: true)
        case .shuttingDown:
            self.init(
                503, "shutting_down", "proxy_internal_response", .larder, "The proxy is shutting down.", retry: true,
                closes: true)
        case .internalError:
            self.init(
                500, "internal_error", "proxy_internal_error", .larder, "Something went wrong in the proxy.",
                closes: true)
        }
    }
}

extension TransformFault {
    fileprivate var proxyStatus: StaticToken {
        switch self {
        case .malformedCoding, .unsupportedCoding: "http_response_content_coding"
        case .bodyTooLarge, .outputTooLarge: "http_response_body_size"
        case .timedOut: "proxy_internal_error"
        case .malformedJSON, .malformedXML, .malformedPropertyList, .malformedText, .unknownCharset, .unencodable, .noPlace,
            .tooDeep,
            .partialContent:
            "http_protocol_error"
        }
    }
}

extension GatewayError {
    /// The same error where it kept a stored response from being validated that may not be used without (RFC 9111 §5.2.2.2):
    /// the gateway had what was asked for, and did not hear in time whether it still holds.
    var ofValidation: GatewayError {
        guard origin == .upstream, status.code == 502 else { return self }
        return GatewayError(
            504, code, proxyStatus, origin, explanation, retry: isRetryable, detail: detail, isToldByType: isToldByType,
            closes: closesConnection)
    }
}

extension Fault {
    /// How the way upstream failed, as far as a stored response may stand in; `nil` for what the client did wrong or policy forbids.
    var failure: OriginFailure? {
        switch self {
        // The gate before everything that leaves has been closed meanwhile: that is being disconnected (RFC 9111 §4.2.4).
        case .offlineMiss: return .disconnected
        // Somebody has answered, who is not believed: no error of the origin server's (RFC 5861 §4).
        case .untrustedServer: return nil
        default: break
        }
        return switch GatewayError(self).origin {
        case .upstream, .larder: .error
        case .client, .policy: nil
        }
    }
}
