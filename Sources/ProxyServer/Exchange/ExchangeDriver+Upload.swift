import HTTPMessage
import HTTPWire
import ProxyCore
import UpstreamTransport

/// The request's body on its way to the origin, as fast as the origin takes it.
extension ExchangeDriver {
    var isReadingRequestBody: Bool { !upload.isComplete }

    /// Whether bytes from the client would be taken now.
    var wantsRequestBody: Bool {
        if isDraining { return true }
        return !upload.isComplete && !upload.isBlocked && (fetch.upstream != nil || upload.isGathering)
    }

    func requestBodyArrived() {
        if isDraining { return drainRequestBody() }
        guard let connection, fetch.upstream != nil || upload.isGathering else { return }
        let upstream = fetch.upstream
        var fault: Fault?
        // Given once the input is ours no longer: what follows may read on.
        var event: ExchangeEvent?
        connection.withInput { input in
            var offset = 0
            do throws(BodyDecodeError) {
                while !upload.isBlocked, event == nil {
                    switch try upload.next(in: input, offset: &offset) {
                    case .content(let range):
                        if let limit = exchange.context.limits.requestBodyLength, upload.receivedCount > limit {
                            fault = .requestBodyTooLarge
                            return input.byteCount
                        }
                        if upload.isGathering {
                            switch gather(input.extracting(range)) {
                            case .taken: break
                            case .tooLong: event = .requestBodyTooLong(at: worker.now)
                            case .noRoom:
                                fault = .requestBodiesFull
                                return input.byteCount
                            }
                        } else if let upstream {
                            longContent?.append(input.extracting(range))
                            upload.isBlocked = !send(input.extracting(range), to: upstream)
                        }
                    case .needsMore: return offset
                    case .ended:
                        if !upload.isGathering {
                            upstream?.endBody(trailers: HopByHop.endToEnd(upload.trailers, under: exchange.request.fields))
                        }
                        event = .requestBodyEnded(content: upload.isGathering ? upload.content : [], at: worker.now)
                    }
                }
            } catch {
                fault = FaultMapping.fault(error)
                return input.byteCount
            }
            return offset
        }
        if fault != nil || event != nil { upload.isGathering = false }
        if let fault { return requestBodyFailed(fault) }
        if let event { handle(event) }
    }

    private func send(_ bytes: RawSpan, to upstream: OriginExchange) -> Bool {
        bytes.withUnsafeBytes { upstream.sendBody($0.bindMemory(to: UInt8.self).span) }
    }

    /// The client has not sent the rest of the request's body in time.
    func requestBodyStalled() { isDraining ? endDraining(keepsConnection: false) : requestBodyFailed(.requestTimeout) }

    /// The client has ended its side in the middle of the request's body.
    func requestBodyCut() {
        isDraining ? endDraining(keepsConnection: false) : requestBodyFailed(.malformedRequest(detail: "incomplete_body"))
    }

    private func requestBodyFailed(_ fault: Fault) {
        fetch.upstream?.cancel()
        endFetch()
        if exchange.state == .delivering {
            handle(.deliveryEnded(isComplete: false, at: worker.now))
        } else {
            handle(.upstreamFailed(fault, at: worker.now))
        }
    }

    func exchangeIsReadyForBody(_ upstream: OriginExchange) {
        guard upstream == fetch.upstream else { return }
        upload.isBlocked = false
        requestBodyArrived()
        connection?.flush()
    }
}
