/// What is stored and how it is updated (RFC 9111 §3, §4.3.4, §4.3.5, §4.4).
enum ModelStorage {
    /// The generated statuses whose caching requirements are all met.
    private static let understood = [200, 203, 204, 300, 301, 302, 307, 308, 404, 405, 410, 414, 500, 501, 502, 503, 504]

    /// §3: "A cache MUST NOT store a response to a request unless".
    static func mayStore(_ stored: ModelStored) -> Bool {
        let request = stored.request
        let response = stored.response
        let directives = response.directives
        // "the request method is understood by the cache". Ours: GET alone.
        guard request.method == "GET" else { return false }
        // "the response status code is final"; "if the response status code is 206 or 304, or the "must-understand" cache directive
        // is present: the cache understands the response status code".
        if response.status < 200 || response.status == 206 || response.status == 304 { return false }
        // RFC 6585 §4: "Responses with the 429 status code MUST NOT be stored by a cache."
        if response.status == 429 { return false }
        if directives.has("must-understand") {
            guard understood.contains(response.status) else { return false }
        } else if directives.has("no-store") {
            // "the "no-store" cache directive is not present in the response"; §5.2.2.3: caches "SHOULD ignore the "no-store"
            // directive in responses that contain both".
            return false
        }
        // §5.2.1.5: the request's no-store covers "any response to it".
        if request.directives.has("no-store") { return false }
        // "the "private" response directive is either not present or allows a shared cache to store a modified response".
        if directives.hasUnqualified("private") { return false }
        // §3.5: "must-revalidate, public, and s-maxage".
        if request.fields.has("authorization"), !allowsAuthorization(directives) { return false }
        // Ours (T23): with Set-Cookie only by explicit freshness.
        if response.fields.has("set-cookie"), !stored.hasExplicitLifetime { return false }
        // "the response contains at least one of".
        return directives.has("public") || stored.hasExplicitLifetime || ModelStored.isHeuristicallyCacheable(response.status)
    }

    static func allowsAuthorization(_ directives: ModelDirectives) -> Bool {
        directives.has("must-revalidate") || directives.has("public") || directives.has("s-maxage")
    }

    /// Whether it could not be used without a validation, and could not be validated either: a 304 only freshens a 200 with a validator
    /// (§4.3.4).
    static func isOfNoUse(_ stored: ModelStored) -> Bool {
        let hasValidator = stored.response.entityTag != nil || stored.response.lastModified != nil
        let isUsable = stored.isFresh(at: stored.responseTime) && !stored.response.directives.hasUnqualified("no-cache")
        return !isUsable && !(hasValidator && stored.response.status == 200)
    }

    /// §3.1, §5.2.2.4, §5.2.2.7: without hop-by-hop fields, and without the fields that `no-cache` and `private` name.
    static func storedFields(_ fields: ModelFields) -> ModelFields {
        var kept = fields.withoutHopByHop()
        for name in restrictedNames(fields) { kept.remove(name) }
        return kept
    }

    private static func restrictedNames(_ fields: ModelFields) -> [String] {
        let directives = ModelDirectives(fields)
        return directives.fieldNames("no-cache") + directives.fieldNames("private")
    }

    /// §3.2: "the cache MUST add each header field in the provided response to the stored response, replacing field values that are already
    /// present, with the following exceptions". Ours (T25): a Set-Cookie is only for the client that made the request.
    static func updated(_ stored: ModelFields, with provided: ModelFields) -> ModelFields {
        var result = stored
        let added = storedFields(provided).lines.filter { $0.name != "content-length" }
        for line in added { result.remove(line.name) }
        result.lines += added.filter { $0.name != "set-cookie" }
        return storedFields(result)
    }

    /// §4.3.4: the stored responses that a 304 identifies, by the first rule that applies.
    ///
    /// Ours: a 304 without a validator responds to the preconditions sent, so it counts for the response that they came from
    /// (docs/requirements.tsv, 9111-4.3.4-2).
    static func identified(by response: ModelResponse, among stored: [ModelStored], asked: Int?, _ choices: inout ModelChoices)
        -> [Int]
    {
        let candidates = stored.indices.filter { stored[$0].response.status == 200 || $0 == asked }
        if let tag = response.entityTag {
            let isWeak = tag.hasPrefix("W/")
            let matching = candidates.filter { index in
                let old = stored[index].response
                if let oldTag = old.entityTag { return isWeak ? weakly(oldTag, tag) : oldTag == tag }
                guard let modified = response.lastModified, old.lastModified == modified else { return false }
                return choices.may(.takesLastModifiedAsStrong)
            }
            return isWeak ? mostRecent(matching, stored) : matching
        }
        if let modified = response.lastModified {
            return mostRecent(candidates.filter { stored[$0].response.lastModified == modified }, stored)
        }
        if response.fields.has("last-modified"), choices.may(.takesUnreadableValidatorAsAnother) { return [] }
        return asked.map { [$0] } ?? []
    }

    static func mostRecent(_ indices: [Int], _ stored: [ModelStored]) -> [Int] {
        indices.max { (stored[$0].dateValue, stored[$0].responseTime, $0) < (stored[$1].dateValue, stored[$1].responseTime, $1) }
            .map { [$0] } ?? []
    }

    /// RFC 9110 §8.8.3.2: weak comparison.
    static func weakly(_ left: String, _ right: String) -> Bool {
        (left.hasPrefix("W/") ? String(left.dropFirst(2)) : left) == (right.hasPrefix("W/") ? String(right.dropFirst(2)) : right)
    }

    /// §4.3.5: "matching values for any received validator fields (ETag and Last-Modified) and, if the HEAD response has a
    /// Content-Length header field, the value of Content-Length matches that of the stored response".
    static func matchesHead(_ stored: ModelResponse, _ head: ModelResponse) -> Bool {
        for name in ["etag", "last-modified", "content-length"] where head.fields.has(name) {
            if stored.fields.values(name) != head.fields.values(name) { return false }
        }
        return true
    }

    /// §4.4: the target, and the "URI(s) in the Location and Content-Location response header fields" of the same origin.
    static func invalidated(by response: ModelResponse, to request: ModelRequest) -> [String] {
        guard !request.isSafe, (200..<400).contains(response.status) else { return [] }
        var urls = [request.url]
        for name in ["location", "content-location"] {
            guard let reference = response.fields.single(name), let url = resolved(reference, against: request.url) else {
                continue
            }
            if origin(url) == origin(request.url) { urls.append(url) }
        }
        return urls
    }

    static func origin(_ url: String) -> String { url.split(separator: "/").prefix(2).joined(separator: "//") }

    /// For the generated references: a whole URI, or a path from the root.
    private static func resolved(_ reference: String, against url: String) -> String? {
        if reference.hasPrefix("http") { return reference }
        return reference.hasPrefix("/") ? origin(url) + reference : nil
    }
}
