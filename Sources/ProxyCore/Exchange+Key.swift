import HTTPCaching
import HTTPMessage
import ProxyPolicy

/// Under which key a request and its response stand, as rules have it.
extension Exchange {
    mutating func makeKey() {
        guard obligations.rewritesKey, let rewriting = matched.keyRewriting else { return CacheKey.write(request, into: &key) }
        CacheKey.write(request, rewriting, into: &key)
        if let fields = rewriting.fields { secondaryKey = fields }
        if rewriting.changesURI { secondaryKey.rules = context.rules.keyDigest }
    }

    // MARK: Content in the key

    /// A rule has the request's content stand in the key, and the content is short enough.
    var isToBeKeyedByContent: Bool {
        guard let methods = matched.keyRewriting?.bodyMethods else { return false }
        switch request.method {
        case .query where methods.contains(.query): break
        case .post where methods.contains(.post): break
        default: return false
        }
        // What depends on more than target and content is between client and origin.
        let isConditional =
            directives.contains(.cacheCondition) || directives.contains(.originCondition) || directives.contains(.range)
        if case .known(let length) = incoming.body, length > UInt64(context.limits.keyedBodyLength) { return false }
        return !isConditional
    }

    mutating func keyByContent(_ content: [UInt8]) {
        directives.keyByContent()
        CacheKey.appendMethod(request.method.name, to: &key)
        secondaryKey.contentDigest = ContentDigest.make(of: content.span, describedBy: request.fields)
    }

    package var isKeyedByContent: Bool { secondaryKey.contentDigest != nil }

    /// The client waits for our word before it sends the content that is to be gathered (RFC 9110 §10.1.1).
    package var awaitsContinue: Bool { request.fields.contains(.expect) && request.version.isAtLeast11 }

    // MARK: Invalidation

    /// What the answer makes untrue (RFC 9111 §4.4), under every key that the active rules give it.
    mutating func noteInvalidatedKeys() {
        // A request that is keyed by its content asks; it changes nothing.
        if isKeyedByContent { return }
        changes.invalidatedKeys = keys(forURIsIn: Invalidation.keys(request: request, response: response))
    }

    /// Every key under which the active rules may have answers for these URIs stored.
    ///
    /// The rules for a write are not those for the reads whose answers are stored: each URI is asked for as these would.
    func keys(forURIsIn plain: [[UInt8]]) -> [[UInt8]] {
        guard context.rules.rewritesKeys || context.rules.upgradesToTLS else { return plain }
        let rules = context.rules
        var keys = plain
        for plain in plain {
            for method in [Method.get, .query, .post] {
                guard let request = RequestHead(uri: plain.span, method: method) else { continue }
                var asked = [request]
                // What was asked for in plain text may stand under the https URL, and by the rules for the plain one.
                var plaintext = request
                if rules.upgradesToTLS, plaintext.target.downgrade() { asked.append(plaintext) }
                for key in asked.compactMap({ Self.storingKey(of: $0, by: rules) }) where !keys.contains(key) { keys.append(key) }
            }
        }
        return keys.flatMap(CacheKey.withContentKeys)
    }

    /// The key under which rules have the answer stored, where it is another than the URI.
    private static func storingKey(of asked: RequestHead, by rules: PolicyRuleSet) -> [UInt8]? {
        var request = asked
        var matched = MatchedRules()
        guard case .allow(let obligations) = rules.match(request, into: &matched) else { return nil }
        let isUpgraded = obligations.upgradesToTLS && request.target.upgradeToTLS()
        var key: [UInt8] = []
        if let rewriting = matched.keyRewriting {
            CacheKey.write(request, rewriting, into: &key)
        } else if isUpgraded {
            CacheKey.write(request, into: &key)
        } else {
            return nil
        }
        return key
    }
}
