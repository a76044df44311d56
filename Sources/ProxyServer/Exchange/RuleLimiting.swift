import HTTPMessage
import ProxyCore
import ProxyPolicy

/// Counts a request, its content and its response's content under the limits of the matching rules. Not used for requests without limits.
///
/// Content of known length counts as a whole once its head has arrived. Other content counts as it arrives, and is cut at the limit.
final class RuleLimiting {
    private(set) var isUsed = false
    private var demands: [LimitDemand] = []
    /// Whether a rule limits the content of the request (or of the response), and the length of that content is unknown.
    private(set) var watchesRequest = false
    private(set) var watchesResponse = false

    func reset() {
        isUsed = false
        demands = []
        watchesRequest = false
        watchesResponse = false
    }

    func count(for driver: ExchangeDriver) {
        isUsed = true
        demands = driver.exchange.limitDemands(client: driver.peer.address)
        var length: UInt64 = 0
        if case .known(let known) = driver.exchange.incoming.body {
            length = known
        } else if driver.exchange.incoming.body != .none {
            watchesRequest = driver.exchange.hasLimit(.requestBody) || driver.exchange.hasLimit(.bytesOut)
        }
        let refusal = demands.isEmpty ? nil : limits(of: driver).admit(demands, bytesOut: length, at: driver.loop.now)
        driver.handle(.requestCounted(refusal, at: driver.now))
    }

    /// Counts the last `count` of the `total` bytes of the request's content received so far.
    /// - Returns: the limit that these bytes exceed; then they are not counted.
    func refusal(ofRequest count: Int, of total: UInt64, for driver: ExchangeDriver) -> LimitRefusal? {
        driver.exchange.refusal(of: total, .requestBody) ?? take(UInt64(count), .bytesOut, for: driver)
    }

    /// Whether a `bytes_in` quota is exhausted, so that the request cannot be sent to the origin. A response from the store does not count
    /// for `bytes_in`, so it is served beyond that quota.
    func refusalOfFetch(for driver: ExchangeDriver) -> LimitRefusal? {
        demands.isEmpty || !driver.exchange.hasLimit(.bytesIn)
            ? nil : limits(of: driver).refusalOfFetch(demands, at: driver.loop.now)
    }

    /// Counts the content of the origin's response, if its length is known; content of unknown length counts as it arrives.
    /// - Returns: the limit that the content exceeds; then it is not counted.
    func refusal(ofResponse length: BodyLength, for driver: ExchangeDriver) -> LimitRefusal? {
        switch length {
        case .none: return nil
        case .known(let length):
            return driver.exchange.refusal(of: length, .responseBody) ?? take(length, .bytesIn, for: driver)
        case .unknown:
            isUsed = true
            watchesResponse = driver.exchange.hasLimit(.responseBody) || driver.exchange.hasLimit(.bytesIn)
            return nil
        }
    }

    /// Counts the last `count` of the `total` bytes of the response's content received so far.
    /// - Returns: the limit that these bytes exceed; then they are not counted.
    func refusal(ofContent count: Int, of total: UInt64, for driver: ExchangeDriver) -> LimitRefusal? {
        driver.exchange.refusal(of: total, .responseBody) ?? take(UInt64(count), .bytesIn, for: driver)
    }

    func responseEnded() { watchesResponse = false }

    private func take(_ length: UInt64, _ word: RuleLimit.Word, for driver: ExchangeDriver) -> LimitRefusal? {
        demands.isEmpty ? nil : limits(of: driver).take(length, word, demands, at: driver.loop.now)
    }

    private func limits(of driver: ExchangeDriver) -> SharedLimits { driver.worker.shared.limits }
}
