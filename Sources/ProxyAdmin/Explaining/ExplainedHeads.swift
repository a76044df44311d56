import HTTPMessage
import HTTPWire
import ProxyCore
import ProxyPolicy
import ProxyServer

/// The input of an explanation: a request's head, optionally its content, and optionally a response's head after it, as they would be sent
/// on a connection.
package struct ExplainedHeads {
    package enum Fault: Error {
        case request(RequestParseError)
        case response(ResponseParseError)
        case incomplete

        /// A sentence for users, without any text of the heads.
        package var sentence: String {
            switch self {
            case .request(let error): "The request's head is malformed: \(error.reason)."
            case .response(let error): "The saved response's head is malformed: \(error.reason)."
            case .incomplete: "The head does not end with an empty line."
            }
        }
    }

    /// A request that the proxy refuses: its head exceeds a limit, or the length of its body is ambiguous.
    struct Refusal {
        let fault: ProxyCore.Fault
        let method: String
        let target: String
    }

    package let request: RequestHead
    let refusal: Refusal?
    /// The request's content; `nil` if it was not given.
    let requestContent: [UInt8]?
    package let response: ResponseHead?
    let responseBody: BodyFraming
    /// The client that sends the request; by default a client on this machine that sends no user name.
    package var client = ClientFacts(address: .loopbackIPv4)

    /// - Parameters:
    ///   - contentLength: the number of bytes after the request's head that are its content; `nil` if no content is given.
    ///   - limits: the proxy's limits for its clients.
    package init(_ bytes: [UInt8], contentLength: Int? = nil, limits: ParseLimits) throws(Fault) {
        var request = RequestHead()
        var response = ResponseHead()
        var framing = BodyFraming.none
        let length: Int?
        do throws(RequestParseError) {
            var parser = RequestParser(limits: limits)
            length = try parser.parse(bytes.span.bytes, into: &request)
            if length != nil { _ = try BodyFraming.ofRequest(request) }
        } catch {
            guard error.isOfReadableRequest else { throw .request(error) }
            self.request = request
            refusal = Refusal(fault: FaultMapping.fault(error), requestLine: bytes)
            requestContent = nil
            self.response = nil
            responseBody = .none
            return
        }
        guard let length else { throw .incomplete }
        guard 0...(bytes.count - length) ~= contentLength ?? 0 else { throw .incomplete }
        let end = length + (contentLength ?? 0)
        requestContent = contentLength.map { _ in Array(bytes[length..<end]) }
        let rest = Array(bytes[end...])
        if rest.isEmpty {
            self.response = nil
        } else {
            let end: Int?
            do throws(ResponseParseError) {
                var parser = ResponseParser()
                end = try parser.parse(rest.span.bytes, into: &response)
                if end != nil { framing = try BodyFraming.ofResponse(response, to: request.method) }
            } catch {
                throw .response(error)
            }
            guard end != nil else { throw .incomplete }
            self.response = response
        }
        self.request = request
        refusal = nil
        responseBody = framing
    }
}

extension ExplainedHeads.Refusal {
    /// - Parameter bytes: bytes that start with a request line.
    fileprivate init(fault: ProxyCore.Fault, requestLine bytes: [UInt8]) {
        let line = bytes.prefix { $0 != ASCII.cr }
        let parts = line.split(separator: ASCII.space, maxSplits: 2, omittingEmptySubsequences: false)
        self.fault = fault
        method = String(decoding: parts.first ?? [], as: UTF8.self)
        target = String(decoding: parts.count > 1 ? parts[1] : [], as: UTF8.self)
    }
}

extension RequestParseError {
    /// Whether the request line is readable and identifies the request. Otherwise there is nothing to explain.
    fileprivate var isOfReadableRequest: Bool {
        switch self {
        case .notHTTP, .malformedRequestLine, .tooManyEmptyLines, .unsupportedVersion, .target: false
        default: true
        }
    }
}
