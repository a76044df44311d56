import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// How a fault is reported to the client: one row for each fault.
///
/// Source: RFC 9110 §15 (status), RFC 9209 §2.3 (Proxy-Status error types), RFC 9457 (problem details, which carry `code`).
package struct GatewayError: Equatable, Sendable {
    package enum Origin: UInt8, Sendable { case client, policy, upstream, larder }

    package let status: Status
    /// The public name of the error, which clients may rely on.
    package let code: StaticToken
    /// The error type in Proxy-Status; empty if no registered type fits.
    package let proxyStatus: StaticToken
    package let origin: Origin
    /// Whether the same request may succeed if it is sent again later.
    package let isRetryable: Bool
    /// One sentence that explains the error to the user.
    package let explanation: StaticToken
    /// A more specific reason, if the fault has one.
    package let detail: StaticToken?
    /// Whether the Proxy-Status error type already expresses the code, so that the parameter `details` contains only the specific reason.
    let isToldByType: Bool
    /// Whether the client's connection must be closed, regardless of its framing.
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

    private init(limit word: RuleLimit.Word) {
        switch word {
        case .requestBody:
            self.init(
                413, "request_too_large", "http_request_denied", .policy, "The request body exceeds the limit of a rule.",
                closes: true)
        case .responseBody:
            self.init(
                502, "response_too_large", "http_response_body_size", .policy, "The response body exceeds the limit of a rule.")
        case .rate:
            self.init(
                429, "rate_limited", "http_request_denied", .policy, "The request exceeds the rate limit of a rule.", retry: true)
        case .requests, .bytesOut, .bytesIn:
            self.init(
                429, "quota_exceeded", "http_request_denied", .policy, "The quota of a rule is used up.", retry: true,
                detail: StaticToken(word.text))
        }
    }

    package init(_ fault: Fault) {
        switch fault {
        case .malformedRequest(let detail):
            self.init(
                400, "request_malformed", "http_request_error", .client, "The request is not well-formed HTTP.",
                detail: detail, closes: true)
        case .badTarget(let detail):
            self.init(
                400, "bad_url", "http_request_error", .client, "The request target is not valid for a proxy.",
                detail: detail, closes: true)
        case .targetTooLong:
            self.init(
                414, "target_too_long", "http_request_error", .client, "The request line exceeds the size limit.",
                closes: true)
        case .requestFieldsTooLarge(let detail):
            self.init(
                431, "request_fields_too_large", "http_request_error", .client,
                "The request's fields exceed the size limit.", detail: detail, closes: true)
        case .requestBodyTooLarge:
            self.init(
                413, "request_body_too_large", "http_request_error", .client,
                "The request body exceeds the size limit.", closes: true)
        case .unknownTransferCoding:
            self.init(
                501, "unknown_transfer_coding", "http_request_error", .client,
                "The request uses an unsupported transfer coding.", closes: true)
        case .unsupportedVersion:
            self.init(
                505, "version_not_supported", "http_request_error", .client,
                "The version in the request line is neither HTTP/1.0 nor HTTP/1.1.", closes: true)
        case .unknownExpectation:
            self.init(
                417, "unknown_expectation", "http_request_error", .client,
                "The request's Expect field names an unsupported expectation.", closes: true)
        case .requestTimeout:
            self.init(
                408, "request_timeout", "http_request_error", .client, "The request did not arrive in time.",
                retry: true, closes: true)
        case .notForAProxy:
            self.init(
                400, "not_a_proxy_request", "http_request_error", .client,
                "This is a proxy: set it as http_proxy, or request an absolute URL.")
        case .misdirectedRequest(let detail):
            self.init(
                421, "misdirected_request", "http_request_error", .client,
                "The request names a different origin than the tunnel it was sent through.", detail: detail)
        case .foreignHost:
            self.init(
                403, "foreign_host", "http_request_denied", .policy,
                "The Host field names a different server than this proxy: use the address that the proxy listens on.")
        case .crossSite:
            self.init(
                403, "cross_site", "http_request_denied", .policy, "Pages of other sites may not read this proxy's own pages.")
        case .noAuthority:
            self.init(
                404, "no_authority", "proxy_configuration_error", .client,
                "Larder has no CA: create one with larder ca init, and set connect: intercept for a host."
            )
        case .onlyIfCachedMiss(let detail):
            self.init(
                504, StaticToken(ReuseDecision.notSatisfiableWord), "destination_unavailable", .policy,
                "The request allows only a stored response, and no stored response can be used.", detail: detail)
        case .offlineMiss(let detail):
            self.init(
                504, StaticToken(ReuseDecision.offlineMissWord), "destination_unavailable", .policy,
                "This proxy is offline or replays a recording: it sends no requests, and no stored or recorded response can be used.",
                detail: detail)
        case .recordingDamaged:
            self.init(
                500, "recording_damaged", "proxy_internal_error", .larder,
                "The recording is unreadable or corrupt.")
        case .loop:
            self.init(
                508, "loop_detected", "proxy_loop_detected", .client,
                "The request is in a loop: it has passed through this proxy already, or its target is this proxy.")
        case .deniedByRule:
            self.init(403, "denied_by_rule", "http_request_denied", .policy, "A rule denies this request.")
        case .egressDenied:
            self.init(
                403, "egress_denied", "http_request_denied", .policy,
                "No rule allows this request, and egress.default is deny.")
        case .ambiguousPath:
            self.init(
                403, "ambiguous_path", "http_request_denied", .policy,
                "The path is ambiguous: servers interpret it differently, and the rules do not allow every interpretation.")
        case .approvalDenied(let reason):
            self.init(
                403, "approval_denied", "http_request_denied", .policy,
                "A rule asks an approver about this request, and no approver allowed it.", detail: reason)
        case .limitReached(let word): self.init(limit: word)
        case .contentHidden:
            self.init(
                403, "content_hidden", "http_request_denied", .policy,
                "A rule limits this request's content, which a tunnel hides: intercept the host, or limit only the number of requests."
            )
        case .clientNotAllowed:
            self.init(
                403, "client_not_allowed", "http_request_denied", .policy,
                "This client is not allowed to use this proxy.", closes: true)
        case .credentialsRequired(let reason):
            self.init(
                407, "proxy_authentication_required", "http_request_denied", .policy,
                "Proxy authentication is required.", detail: reason)
        case .tooManyAttempts:
            self.init(
                429, "too_many_attempts", "http_request_denied", .policy,
                "Too many passwords were tried from this address; try again later.", retry: true, closes: true)
        case .portNotAllowed:
            self.init(
                403, "port_not_allowed", "http_request_denied", .policy,
                "Tunnels to this port are not allowed; tunnel.ports in the settings lists the allowed ports.")
        case .hostDenied:
            self.init(
                403, "host_denied", "http_request_denied", .policy,
                "The settings deny this host: neither tls.hosts nor tls.pins_from names it, and tls.default is deny.")
        case .connectDenied:
            self.init(
                403, "connect_denied", "http_request_denied", .policy, "The settings (tls) deny CONNECT to this host.")
        case .recordedChainRefused(let reason):
            self.init(
                504, "recorded_chain_not_trusted", "tls_certificate_error", .policy,
                "The host cannot be reached, and the trust policy rejects the certificates of the stored response.",
                retry: true, detail: reason, isToldByType: true)
        case .clientRefusedCertificate(let alert):
            self.init(
                403, "client_refused_certificate", "tls_alert_received", .client,
                "The client rejected this proxy's certificate: it probably does not trust this proxy's CA.",
                detail: alert)
        case .clientHandshakeFailed(let reason):
            self.init(
                400, "client_handshake_failed", "http_request_error", .client, "The TLS handshake with the client failed.",
                detail: reason)
        case .noCertificate(let reason):
            self.init(
                403, "no_certificate_for_host", "http_request_denied", .policy,
                "This host must be intercepted, but the local CA cannot issue a certificate for it.", detail: reason)
        case .tunnelRefused(let reason):
            self.init(
                403, "tunnel_refused", "http_request_denied", .policy,
                "Larder refused the tunnel. The detail names the reason, such as server_name_mismatch, not_tls or hidden_from_rules.",
                detail: reason)
        case .hostMismatch:
            self.init(
                403, "host_mismatch", "http_request_denied", .policy, "The Host field and the URL name different hosts.")
        case .destinationProhibited:
            self.init(
                403, "destination_prohibited", "destination_ip_prohibited", .policy,
                "Connections to the destination's address are prohibited.")
        case .destinationPrivate:
            self.init(
                403, "destination_private", "destination_ip_prohibited", .policy,
                "The destination's address is private and therefore denied. To allow this address, add it to egress.addresses.allow."
            )
        case .plaintextToPinnedHost:
            self.init(
                403, "plaintext_to_pinned_host", "http_request_denied", .policy,
                "The host's keys are pinned, and http cannot verify them: use https.")
        case .purgeOff:
            self.init(
                405, "purge_off", "http_request_denied", .policy, "PURGE is disabled: clients.purge lists no clients.")
        case .purgeNotAllowed:
            self.init(
                403, "purge_not_allowed", "http_request_denied", .policy, "This client is not allowed to purge.")
        case .nameNotFound:
            self.init(502, "dns_error", "dns_error", .upstream, "The host's name was not found.", retry: true)
        case .nameLookUpTimeout:
            self.init(
                504, "timeout", "dns_timeout", .upstream, "Looking up the host's name timed out.", retry: true,
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
                "The host closed the connection before it sent a response.", retry: true)
        case .destinationUnroutable:
            self.init(
                502, "destination_unroutable", "destination_ip_unroutable", .upstream,
                "There is no route to the host's address.", retry: true)
        case .upstreamQueueFull:
            self.init(
                503, "queue_full", "connection_limit_reached", .larder, "Too many requests are waiting for this host.",
                retry: true)
        case .upstreamQueueTimeout:
            self.init(
                503, "queue_full", "connection_limit_reached", .larder, "No connection to this host became available in time.",
                retry: true, detail: "queue_wait")
        case .upstreamProxyRefused:
            self.init(
                502, "upstream_proxy_refused", "destination_unavailable", .upstream,
                "The upstream proxy did not accept the request.")
        case .untrustedServer(let reason):
            self.init(
                502, "certificate_not_trusted", "tls_certificate_error", .upstream,
                "The trust policy rejects the host's certificate. Larder sent nothing of the request.",
                detail: reason, isToldByType: true)
        case .handshakeAlert(let description):
            self.init(
                502, "tls_handshake_refused", "tls_alert_received", .upstream, "The host refused the TLS handshake.",
                detail: description, isToldByType: true)
        case .clientCertificateRequired:
            self.init(
                502, "client_certificate_required", "tls_alert_received", .upstream,
                "The host requires a client certificate, and the settings contain no client certificate for this host.")
        case .handshakeFailed:
            self.init(
                502, "tls_handshake_failed", "tls_protocol_error", .upstream, "The TLS handshake with the host failed.")
        case .responseTimeout(let phase):
            self.init(
                504, "timeout", "http_response_timeout", .upstream, "The host did not respond in time.", retry: true,
                detail: phase)
        case .malformedResponse(let detail):
            self.init(
                502, "response_malformed", "http_protocol_error", .upstream, "The host's response is not well-formed HTTP.",
                detail: detail)
        case .responseFieldsTooLarge:
            self.init(
                502, "response_fields_too_large", "http_response_header_section_size", .upstream,
                "The response's fields exceed the size limit.")
        case .responseIncomplete:
            self.init(
                502, "response_incomplete", "http_response_incomplete", .upstream,
                "The host closed the connection before the response was complete.", retry: true)
        case .responseReset(_, let reason):
            self.init(
                502, "response_reset", "http_response_incomplete", .upstream,
                "The host reset the HTTP/2 stream before the response was complete.", retry: true, detail: reason)
        case .webSocketAcceptMismatch:
            self.init(
                502, "websocket_accept_mismatch", "http_upgrade_failed", .upstream,
                "The host's Sec-WebSocket-Accept does not match the request's Sec-WebSocket-Key.")
        case .unexpectedUpgrade:
            self.init(
                502, "unexpected_upgrade", "http_upgrade_failed", .upstream,
                "The host switched protocols, although the request did not ask for it.")
        case .unexpectedNotModified:
            self.init(
                502, "unexpected_not_modified", "http_protocol_error", .upstream,
                "The host sent 304 (Not Modified) in response to a request without conditional fields.")
        case .unacceptableStatus:
            self.init(
                502, "unacceptable_status", "http_protocol_error", .policy, "A rule does not accept this status.")
        case .unacceptableContentType:
            self.init(
                502, "unacceptable_content_type", "http_protocol_error", .policy,
                "A rule does not accept this content type.")
        case .malformedJSON:
            self.init(
                502, "malformed_json", "http_protocol_error", .policy, "A rule requires JSON, but the body is not JSON.")
        case .noneAccepts:
            self.init(
                502, "none_accepts", "http_protocol_error", .policy,
                "A rule requires one of several formats, but the body matches none of them.")
        case .malformedXML:
            self.init(
                502, "malformed_xml", "http_protocol_error", .policy,
                "A rule requires XML, but the body is not XML, or contains a declaration that is not allowed.")
        case .malformedPropertyList:
            self.init(
                502, "malformed_plist", "http_protocol_error", .policy,
                "A rule requires a property list, but the body is not a property list.")
        case .malformedImage:
            self.init(
                502, "malformed_image", "http_protocol_error", .policy,
                "A rule requires an image, but the body is not an image, or does not match its Content-Type.")
        case .imageTooLarge:
            self.init(
                502, "image_too_large", "http_protocol_error", .policy,
                "A rule requires an image, but the image's declared size exceeds the limit.")
        case .malformedCoding:
            self.init(
                502, "malformed_coding", "http_response_content_coding", .policy,
                "A rule checks the body, but its content coding cannot be decoded.")
        case .unsupportedCoding:
            self.init(
                502, "unsupported_coding", "http_response_content_coding", .policy,
                "A rule checks the body, but its content coding is not supported.")
        case .responseBodyTooLarge:
            self.init(
                502, "body_too_large", "http_response_body_size", .policy,
                "A rule checks the body, but the body exceeds the size limit.")
        case .transformFailed(let fault):
            self.init(
                502, "transform_failed", fault.proxyStatus, .policy,
                "A rule transforms the content, but the transformation failed.", retry: fault == .timedOut,
                detail: StaticToken(fault.word))
        case .noTrustAnchors:
            self.init(
                500, "no_trust_anchors", "proxy_configuration_error", .larder,
                "No trusted CA certificates are configured, so Larder cannot verify https servers.")
        case .overloaded:
            self.init(
                503, "overloaded", "connection_limit_reached", .larder, "Too many connections are open: try again later.",
                retry: true,
                closes: true)
        case .checkQueueFull:
            self.init(
                503, "check_queue_full", "proxy_internal_error", .larder,
                "Too many bodies, or bodies that are too large, are waiting to be checked; try again later.", retry: true)
        case .requestBodiesFull:
            self.init(
                503, "request_bodies_full", "proxy_internal_error", .larder,
                "Too many request bodies are being buffered; try again later.", retry: true
            )
        case .credentialsQueueFull:
            self.init(
                503, "authentication_queue_full", "proxy_internal_error", .larder,
                "Too many passwords are waiting to be verified; try again later.",
                retry: true)
        case .shuttingDown:
            self.init(
                503, "shutting_down", "proxy_internal_response", .larder, "The proxy is shutting down.", retry: true,
                closes: true)
        case .internalError:
            self.init(
                500, "internal_error", "proxy_internal_error", .larder, "The proxy failed internally.",
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
    /// This error as it is reported if a stored response could not be validated, but must not be used without validation (RFC 9111
    /// §5.2.2.2). A 502 becomes 504, because the gateway did not receive a timely response.
    var ofValidation: GatewayError {
        guard origin == .upstream, status.code == 502 else { return self }
        return GatewayError(
            504, code, proxyStatus, origin, explanation, retry: isRetryable, detail: detail, isToldByType: isToldByType,
            closes: closesConnection)
    }
}

extension Fault {
    /// The kind of origin failure, if a stored response may be used in its place; `nil` for errors caused by the client or by policy.
    var failure: OriginFailure? {
        switch self {
        // Forwarding was disabled after the exchange began, so the cache is disconnected (RFC 9111 §4.2.4).
        case .offlineMiss: return .disconnected
        // A server responded but is not trusted: that is not an error of the origin server (RFC 5861 §4).
        case .untrustedServer: return nil
        default: break
        }
        return switch GatewayError(self).origin {
        case .upstream, .larder: .error
        case .client, .policy: nil
        }
    }
}
