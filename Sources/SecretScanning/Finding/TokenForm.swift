import HTTPMessage

/// A kind of token that a service marks with a prefix, so that it is recognized anywhere.
struct TokenForm: Sendable {
    let prefix: [UInt8]
    /// The minimum number of bytes after the prefix.
    let minimum: Int
    /// Bytes that the token may contain besides letters and digits.
    let others: [UInt8]

    private init(_ prefix: String, _ minimum: Int, _ others: String = "_-") {
        self.prefix = Array(prefix.utf8)
        self.minimum = minimum
        self.others = Array(others.utf8)
    }

    /// The prefixes that the services document, and that GitHub and GitLab search for in pushed commits.
    static let all: [TokenForm] = [
        // Tokens of Stripe.
        TokenForm("sk_live_", 16, ""), TokenForm("sk_test_", 16, ""), TokenForm("rk_live_", 16, ""),
        TokenForm("rk_test_", 16, ""),
        TokenForm("whsec_", 16, "+/="),
        // Tokens of OpenAI, Anthropic, OpenRouter and other language model services.
        TokenForm("sk-proj-", 16), TokenForm("sk-svcacct-", 16), TokenForm("sk-admin-", 16), TokenForm("sk-ant-", 16),
        TokenForm("sk-or-", 16), TokenForm("sk-", 32, ""), TokenForm("gsk_", 32, ""), TokenForm("xai-", 32),
        TokenForm("hf_", 30, ""),
        TokenForm("r8_", 32, ""), TokenForm("pplx-", 32, ""),
        // Tokens of GitLab.
        TokenForm("glpat-", 16, "_-."), TokenForm("gldt-", 16, "_-."), TokenForm("glrt-", 16, "_-."),
        TokenForm("glptt-", 16, "_-."),
        TokenForm("glcbt-", 16, "_-."), TokenForm("glsoat-", 16, "_-."), TokenForm("glagent-", 16, "_-."),
        TokenForm("glft-", 16, "_-."), TokenForm("gloas-", 16, "_-."),
        // Tokens of Google.
        TokenForm("AIza", 35), TokenForm("ya29.", 20, "_-."), TokenForm("GOCSPX-", 20), TokenForm("1//0", 30),
        // Tokens of package and image registries.
        TokenForm("npm_", 36, ""), TokenForm("pypi-", 32), TokenForm("rubygems_", 32, ""), TokenForm("dckr_pat_", 20),
        TokenForm("dckr_oat_", 20), TokenForm("oy2", 43, ""),
        // Tokens of Shopify.
        TokenForm("shpat_", 24, ""), TokenForm("shpca_", 24, ""), TokenForm("shppa_", 24, ""), TokenForm("shpss_", 24, ""),
        // Tokens of HashiCorp.
        TokenForm("hvs.", 20), TokenForm("hvb.", 20), TokenForm("hvr.", 20),
        // Tokens of other services.
        TokenForm("dop_v1_", 32, ""), TokenForm("doo_v1_", 32, ""), TokenForm("SG.", 40, "_-."), TokenForm("xapp-", 20),
        TokenForm("lin_api_", 24, ""), TokenForm("figd_", 24), TokenForm("ATATT3", 40, "_-="), TokenForm("PMAK-", 40),
        TokenForm("sbp_", 32, ""), TokenForm("dapi", 32, ""), TokenForm("glsa_", 24), TokenForm("xkeysib-", 40),
        TokenForm("NRAK-", 20, ""), TokenForm("ntn_", 32, ""), TokenForm("sntrys_", 32, "_-+/="), TokenForm("dp.pt.", 32, ""),
        TokenForm("pul-", 32, ""), TokenForm("pscale_tkn_", 24, "_-."), TokenForm("pscale_pw_", 24, "_-."),
        TokenForm("sq0atp-", 20), TokenForm("sq0csp-", 30), TokenForm("AGE-SECRET-KEY-1", 40, ""),
    ]

    /// The forms, by their first byte.
    private static let byFirst: [[TokenForm]] = (0...255).map { first in all.filter { Int($0.prefix[0]) == first } }

    /// - Returns: the token or placeholder that begins at this position.
    static func token(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        for form in byFirst[Int(octets[place])] where octets.holds(form.prefix, at: place) {
            let start = place + form.prefix.count
            if octets.holds(SecretMark.word, at: start) {
                let end = octets.end(from: start + SecretMark.word.count, limit: 32) { ASCII.hexValue($0) != nil }
                guard end - start == SecretMark.word.count + 32 else { continue }
                return FoundSecret(range: place..<end, kind: .prefixedToken, isPlaceholder: true)
            }
            let end = octets.end(from: start, limit: 1024) {
                ASCII.isAlpha($0) || ASCII.isDigit($0) || form.others.contains($0)
            }
            // Words, alone or joined by hyphens, are not tokens: every token has digits.
            guard end - start >= form.minimum, octets[start..<end].contains(where: ASCII.isDigit) else { continue }
            return FoundSecret(range: place..<end, kind: .prefixedToken, isPlaceholder: false)
        }
        return nil
    }

    /// The prefix of a token of one of these forms.
    static func prefix(of token: [UInt8]) -> [UInt8] {
        token.first.flatMap { first in byFirst[Int(first)].first { token.starts(with: $0.prefix) }?.prefix } ?? []
    }
}

/// Webhook URLs whose last path segments are secret, because any client that knows the URL can send messages.
enum WebhookPath {
    private static let slack = [Array("/services/".utf8), Array("/workflows/".utf8), Array("/triggers/".utf8)]
    private static let discord = Array("/webhooks/".utf8)
    private static let telegram = Array("/bot".utf8)

    /// - Parameter place: the position of the slash before `services`, `webhooks` or `bot…`.
    static func secret(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        if let prefix = slack.first(where: { octets.holds($0, at: place) }) {
            return slackPath(in: octets, from: place + prefix.count)
        }
        if octets.holds(discord, at: place) { return discordToken(in: octets, from: place + discord.count) }
        if octets.holds(telegram, at: place) { return telegramToken(in: octets, from: place + telegram.count) }
        return nil
    }

    /// The secret in a Slack URL: `T…/B…/…`, the ids of workspace and webhook, and the secret part.
    private static func slackPath(in octets: UnsafeBufferPointer<UInt8>, from start: Int) -> FoundSecret? {
        if let ours = placeholder(in: octets, at: start) { return ours }
        guard octets.holds([UInt8(ascii: "T")], at: start) else { return nil }
        let end = octets.end(from: start, limit: 512) { isSegment($0) || $0 == ASCII.slash }
        let parts = octets[start..<end].split(separator: ASCII.slash)
        let areIDs = parts.prefix(2).allSatisfy { $0.count >= 6 && $0.allSatisfy { ASCII.isUppercase($0) || ASCII.isDigit($0) } }
        guard parts.count >= 3, areIDs, (parts.last?.count ?? 0) >= 16 else { return nil }
        return FoundSecret(range: start..<end, kind: .opaque, isPlaceholder: false)
    }

    /// The secret in a Discord URL: the token of `ID/TOKEN`, without the id.
    private static func discordToken(in octets: UnsafeBufferPointer<UInt8>, from start: Int) -> FoundSecret? {
        let id = octets.end(from: start, limit: 24, while: ASCII.isDigit)
        guard id - start >= 16, octets.holds([ASCII.slash], at: id) else { return nil }
        if let ours = placeholder(in: octets, at: id + 1) { return ours }
        let end = octets.end(from: id + 1, limit: 256, while: isSegment)
        return end - id > 40 ? FoundSecret(range: id + 1..<end, kind: .opaque, isPlaceholder: false) : nil
    }

    /// The secret in a Telegram URL: `123456:…` after `bot`.
    private static func telegramToken(in octets: UnsafeBufferPointer<UInt8>, from start: Int) -> FoundSecret? {
        if let ours = placeholder(in: octets, at: start) { return ours }
        let id = octets.end(from: start, limit: 16, while: ASCII.isDigit)
        guard id - start >= 6, octets.holds([ASCII.colon], at: id) else { return nil }
        let end = octets.end(from: id + 1, limit: 64, while: isSegment)
        return end - id > 30 ? FoundSecret(range: start..<end, kind: .opaque, isPlaceholder: false) : nil
    }

    private static func placeholder(in octets: UnsafeBufferPointer<UInt8>, at place: Int) -> FoundSecret? {
        guard place < octets.count, let token = SecretScan.token(in: octets, at: place), token.isPlaceholder else { return nil }
        return token
    }

    private static func isSegment(_ octet: UInt8) -> Bool {
        ASCII.isWord(octet) || octet == UInt8(ascii: "-")
    }
}
