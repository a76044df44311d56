import HTTPMessage
import HTTPWire
import ProxyCore
import Testing
import UpstreamTransport

@testable import ProxyServer

@Suite("Mapping each module's errors to faults for clients")
struct FaultMappingTests {
    @Test(
        "A request that cannot be parsed gets its own status, and the connection closes",
        arguments: [
            RequestParseError.notHTTP, .malformedRequestLine, .requestLineTooLong, .tooManyEmptyLines, .unsupportedVersion,
            .headTooLarge,
            .tooManyFields, .line(.nul), .missingHost, .repeatedHost, .bothLengths, .repeatedContentLength,
            .malformedContentLength,
            .transferEncodingInHTTP10, .malformedTransferEncoding, .chunkedNotFinal, .unknownTransferCoding, .contentInConnect,
        ])
    func keepsStatus(error: RequestParseError) {
        let row = GatewayError(FaultMapping.fault(error))
        #expect(row.status == error.status)
        #expect(row.closesConnection)
        #expect(row.origin == .client)
    }

    @Test(
        "A request body that cannot be decoded gets 400",
        arguments: [
            BodyDecodeError.malformedChunkSize, .chunkSizeTooLarge, .chunkLineTooLong, .chunkExtensionsTooLong,
            .unterminatedChunk,
            .trailersTooLarge, .tooManyTrailers, .forbiddenTrailer, .line(.bareCarriageReturn), .incomplete,
        ])
    func refusesBodies(error: BodyDecodeError) {
        let row = GatewayError(FaultMapping.fault(error))
        #expect(row.status.code == 400 && row.closesConnection)
    }

    @Test(
        "A timeout in each phase of an exchange has its own Proxy-Status",
        arguments: [
            (TimeoutPhase.queue, "connection_limit_reached"), (.nameLookUp, "dns_timeout"), (.connect, "connection_timeout"),
            (.sending, "http_response_timeout"), (.firstByte, "http_response_timeout"), (.idle, "http_response_timeout"),
            (.total, "http_response_timeout"),
        ])
    func tellsPhases(phase: TimeoutPhase, type: String) {
        let row = GatewayError(FaultMapping.fault(TransportError.timedOut(phase)))
        #expect("\(row.proxyStatus.text)" == type)
        #expect(row.isRetryable)
    }

    @Test(
        "An origin's fault is never reported as the client's",
        arguments: [
            TransportError.nameNotResolved, .connectionRefused, .connectionFailed(code: 113), .closedBeforeResponse,
            .closedInHead,
            .malformedResponse(.bothLengths), .malformedResponse(.headTooLarge),
            .malformedResponse(.unrequestedSwitchingProtocols),
            .malformedBody(.unterminatedChunk), .incompleteBody, .tunnelRefused(status: 407),
            .tlsFailed, .tlsAlert(TLSAlert(40)), .identityMissing,
        ])
    func blamesTheOrigin(error: TransportError) {
        let row = GatewayError(FaultMapping.fault(error))
        #expect(row.origin == .upstream)
        #expect(row.status.code == 502)
    }
}
