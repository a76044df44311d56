import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// The values of the exchange's state by single names.
extension Exchange {
    package var requestBody: BodyLength { incoming.body }
    package var credentials: BasicCredentials? { incoming.credentials }
    package var user: [UInt8] { incoming.sender?.user ?? [] }
    package var purgedKeys: [[UInt8]] { incoming.purge?.keys ?? [] }
    package var isForSwitch: Bool { incoming.isForSwitch }
    package var selected: StoredResponse? { cache.selected }
    package var selectedLength: BodyLength? { cache.selectedLength }
    package var freshened: [StoreChanges.Freshened] { changes.freshened }
    package var removed: [StoredResponse] { changes.removed }
    package var invalidatedKeys: [[UInt8]] { changes.invalidatedKeys }
    package var joinedBody: BodyUnderWay? { ranges.joinedBody }
    package var completion: RangeCompletion? { ranges.completion }
    package var part: RangeState.Part? { ranges.part }
    package var responseBody: BodyLength { upstream.body }
    package var upstreamTrust: UInt64 { upstream.trust }
    package var upstreamChain: RecordedChain? { upstream.chain }
    package var trustRefusal: TrustRefusal? { upstream.trustRefusal }
    package var retryAfter: Int64? { upstream.retryAfter }
    package var transformSource: TransformPlan.Source? { transform.source }
    package var transformEnd: TransformEnd? { transform.end }
}
