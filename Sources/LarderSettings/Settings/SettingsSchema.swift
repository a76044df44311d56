import ProxyPolicy

/// The table of all settings. Only this table defines how the settings are read, checked, shown, and described to editors (`larder
/// config schema`) and to people (docs/configuration.md).
package enum SettingsSchema {
    package static let settings = first + store + sharedTier + others

    private static let first: [Setting] = [
        Setting(
            "listen", \.listen, .list(of: .listenAddress),
            "Addresses that clients connect to. Port 0 lets the system choose; `--port-file` writes the port to a file. An "
                + "address that other machines can reach needs `clients.allow`, `clients.passwords` or client certificates "
                + "(`tls.clients`)."),

        Setting(
            "mode", \.mode, .word(), reloadable: true,
            "Which requests Larder forwards. `live`: requests that Larder cannot serve from the store. `offline`: no request; "
                + "stored responses are served at any age, and other requests get 504. `auto`: `offline` while this machine has no "
                + "network, else `live`. `replay`: no request; recorded responses are served. `record`: forward and record every request. "
                + "`record_missing`: serve recorded responses; forward and record other requests. `refresh`: forward every request, "
                + "and re-record responses that changed. `diff`: forward every request, and compare the response with the recorded "
                + "one. A rule can set another mode for the requests that it matches. See [replay-modes.md](replay-modes.md)."
        ),
    ]

    private static let others: [Setting] = [
        Setting(
            "loops", \.loops, .optional(.number(1...256), or: "auto", meaning: "one thread for each core, at most four"),
            "Number of threads that serve clients."),

        Setting("log.level", \.log.level, .word(), reloadable: true, "How much Larder logs on standard error."),
        Setting(
            "log.access.path", \.log.access.path, .path,
            "The access log: one line for each request. `-` is standard output. SIGUSR1 reopens the file."),
        Setting("log.access.format", \.log.access.format, .word(), "Format of the lines in the access log."),
        Setting(
            "log.access.query", \.log.access.includesQuery, .boolean,
            "Whether the access log contains the query of each URL. Queries often contain secrets."),
        Setting(
            "log.audit", \.log.audit, .optional(.path, or: "off", meaning: "no audit log"),
            "The audit log: decisions of policy and trust, and changes of settings and mode, in a file in which every later "
                + "change can be detected. `larder log verify` checks it. See [audit-log.md](audit-log.md)."),
        Setting(
            "log.audit_requests", \.log.auditRequests, .word(),
            "Which requests the audit log contains: `denied` requests, or `all`."),
        Setting(
            "log.audit_files.size", \.log.auditFiles.size, .size((64 << 10)...(1 << 30)),
            "Size at which Larder begins a new file for the audit log."),
        Setting(
            "log.audit_files.age", \.log.auditFiles.age, .time(60_000...(365 * 86_400_000)),
            "Age at which Larder begins a new file for the audit log."),
        Setting(
            "log.audit_files.count", \.log.auditFiles.count, .number(1...10_000),
            "Maximum number of files of the audit log, including the newest one. If there are more, Larder deletes the oldest "
                + "file."),

        Setting(
            "limits.request_line", \.limits.requestLineLength, .size(64...(1 << 20)), reloadable: true,
            "Longest request line. A request with a longer line gets 414."),
        Setting(
            "limits.head", \.limits.headLength, .size(256...(16 << 20)), reloadable: true,
            "Longest head of a message. A request with a longer head gets 431."),
        Setting(
            "limits.fields", \.limits.fieldCount, .number(1...10_000), reloadable: true,
            "Maximum number of fields in a head. A request with more fields gets 431."),
        Setting(
            "limits.request_body", \.limits.requestBodyLength, .optional(.size(), or: "off", meaning: "Larder sets no limit"),
            reloadable: true,
            "Longest request body. A request with a longer body gets 413."),
        Setting(
            "limits.checked_bodies", \.limits.checkedBytes, .size((1 << 20)...(1 << 40)), reloadable: true,
            "Memory for all response bodies that rules are checking. If a response body does not fit, the client gets 503."),

        Setting(
            "limits.http2.streams", \.limits.http2.streams, .number(1...10_000), reloadable: true,
            "Maximum number of requests that a client may have open at once on an HTTP/2 connection."),
        Setting(
            "limits.http2.resets", \.limits.http2.resets, .number(1...1_000_000), reloadable: true,
            "Maximum number of streams that a client may reset in 10 s. If it resets more, Larder closes the HTTP/2 connection."),
        Setting(
            "limits.http2.resets_per_client", \.limits.http2.resetsPerClient, .number(1...10_000_000), reloadable: true,
            "Maximum number of streams that one client address may reset in 10 s, on all its HTTP/2 connections. If it resets more, "
                + "Larder closes these connections, and opens no further HTTP/2 connection for it until the 10 s are over."),
        Setting(
            "limits.http2.stream_window", \.limits.http2.streamWindow, .size(65_535...(1 << 30)), reloadable: true,
            "Maximum size of request content that Larder buffers for each HTTP/2 stream."),
        Setting(
            "limits.http2.connection_window", \.limits.http2.connectionWindow, .size(65_535...(1 << 30)), reloadable: true,
            "Maximum size of request content that a client may send before Larder reads it, for all streams of an HTTP/2 "
                + "connection together."),

        Setting(
            "timeouts.connect", \.timeouts.connect, .time(), reloadable: true,
            "Maximum time to look up the origin's name and connect to it."),
        Setting(
            "timeouts.first_byte", \.timeouts.firstByte, .time(), reloadable: true,
            "Maximum time from the end of the request to the head of the response."),
        Setting(
            "timeouts.idle", \.timeouts.idle, .time(), reloadable: true, "Longest pause between two pieces of a response body."),
        Setting(
            "timeouts.total", \.timeouts.total, .optional(.time(), or: "off", meaning: "no limit while bytes arrive"),
            reloadable: true,
            "Maximum time for one exchange with an origin, from start to end."),
        Setting(
            "timeouts.client_handshake", \.timeouts.clientHandshake, .time(), reloadable: true,
            "Maximum time for the TLS handshake with a client. In an intercepted tunnel, this time begins with the client's first "
                + "byte. On a listener with TLS, it begins with the connection."
        ),
        Setting(
            "timeouts.client_head", \.timeouts.clientHead, .time(), reloadable: true,
            "Maximum time for a client to send a complete head."
        ),
        Setting(
            "timeouts.client_body", \.timeouts.clientBody, .time(), reloadable: true,
            "How long Larder waits for the next piece of a request body, or for the client to read more of a response."),
        Setting(
            "timeouts.client_idle", \.timeouts.clientIdle, .time(), reloadable: true,
            "How long a client connection may be idle between two requests."),
        Setting(
            "timeouts.drain", \.timeouts.drain, .time(), reloadable: true,
            "How long Larder waits after SIGTERM for exchanges in flight, before it closes them."),

        Setting(
            "upstream.proxy", \.upstream.proxy, .optional(.upstreamProxy, or: "off", meaning: "directly to the origins"),
            reloadable: true, "The proxy that Larder sends its requests through. `upstream.ways` can name several."),
        Setting(
            "upstream.ways", \.upstream.ways, .list(of: .upstreamWay), reloadable: true,
            "Named ways to the origins, through a proxy or parents. Parents are Larders that share the requests. See [farm.md](farm.md)."
        ),
        Setting(
            "upstream.way", \.upstream.way, .optional(.runName, or: "auto", meaning: "`upstream.proxy`, if set, else `direct`"),
            reloadable: true, "The way for requests for which no rule names a way."),
        Setting(
            "upstream.http2", \.upstream.http2, .word(), reloadable: true,
            "Whether Larder offers HTTP/2 to https origins. If an origin does not choose it, Larder uses HTTP/1.1."),
        Setting(
            "upstream.connections_per_origin", \.upstream.connectionsPerOrigin, .number(1...65_535),
            "Maximum number of connections to one origin, for all threads together. For an origin with HTTP/2, Larder limits the "
                + "requests in flight instead: to this number or half of `upstream.connections`, whichever is larger."),
        Setting(
            "upstream.connections", \.upstream.connections, .number(1...1_000_000),
            "Maximum number of connections to all origins together. In HTTP/2, each request counts as one connection. Tunnels do not count."
        ),
        Setting(
            "upstream.queue_wait", \.upstream.queueWait, .time(), reloadable: true,
            "How long a request waits for a connection before it gets 503."),

        Setting(
            "resolve", \.resolve, .namesToAddresses, reloadable: true,
            "Host names with fixed addresses. Larder does not look these names up."),
        Setting("tunnel.ports", \.tunnel.ports, .tunnelPorts, reloadable: true, "The ports that CONNECT may reach."),
        Setting(
            "egress.default", \.egress.default, .word(), reloadable: true,
            "What happens to requests that no rule allows: `allow` forwards them; `deny` responds with 403 and forwards nothing."),
        Setting(
            "egress.suggest", \.egress.suggests, .boolean, reloadable: true,
            "Whether the response to a request that no rule allows contains the rule that would allow it."),
        Setting(
            "egress.stored", \.egress.stored, .word(), reloadable: true,
            "Whether a request that the rules deny may get a recorded or stored response. `deny`: it gets 403. `serve`: it gets the recorded or stored response, and Larder forwards nothing to the origin."
        ),
        Setting(
            "egress.enforce", \.egress.enforcement, .word(), reloadable: true,
            "What happens to the requests that `egress.default` or a rule's `deny` denies. `deny`: Larder denies them. `report`: Larder forwards them, and `larder status` lists them. A rule's `enforce` overrides this."
        ),
        Setting(
            "egress.addresses.deny", \.egress.addresses.deny, .list(of: .addressRange), reloadable: true,
            "Addresses that Larder never connects to, under any host name. The default is link-local addresses and the addresses "
                + "of cloud metadata services."
        ),
        Setting(
            "egress.addresses.private", \.egress.addresses.private,
            .optional(.word(besides: "auto"), or: "auto", meaning: "the value of `egress.default`"), reloadable: true,
            "Whether Larder connects to loopback, private, link-local, multicast and other addresses that are not public."),
        Setting(
            "egress.addresses.allow", \.egress.addresses.allow, .list(of: .allowedAddress), reloadable: true,
            "Addresses that Larder connects to although `egress.addresses.deny` or `egress.addresses.private` denies them. A range never allows a cloud metadata service: list the service's own address."
        ),
        Setting(
            "policy.shadow", \.shadow.file, .optional(.path, or: "off", meaning: "nothing is compared"), reloadable: true,
            "A second settings file. Larder evaluates each request by the `egress` and `rules` of that file too, and reports where "
                + "the verdicts differ. Only the active rules decide what happens to a request."),
        Setting(
            "clients.allow", \.clients.allow, .list(of: .addressRange), reloadable: true,
            "Remote clients that may use Larder, if it listens on an address that other machines can reach. Clients on this "
                + "machine may always use it."),
        Setting(
            "clients.passwords", \.clients.passwords,
            .optional(
                .path, or: "off",
                meaning: "no client needs a password"),
            reloadable: true,
            "A file of user names and password hashes, as `htpasswd -B` writes it: see "
                + "[clients-access.md](clients-access.md). A reload reads the file again."),
        Setting(
            "clients.authenticate", \.clients.authenticate, .word(), reloadable: true,
            "Which clients must authenticate: remote clients that `clients.allow` does not list, all remote clients, or all "
                + "clients. With `remote` and `all`, remote clients may connect only from the addresses in `clients.allow`, unless "
                + "this list is empty."
        ),
        Setting(
            "clients.purge", \.clients.purge, .list(of: .addressRange), reloadable: true,
            "Clients that may remove the stored responses of a URL with the method PURGE. If the list is empty, PURGE gets "
                + "405."),
        Setting(
            "clients.run", \.clients.run, .optional(.runName, or: "off", meaning: "no rule with `run` matches"), reloadable: true,
            "The name of this run. [Rules](policy.md#match) with `run` match it, and `larder run --name` sets it."),
        Setting(
            "cache.set_cookie", \.cache.setCookie, .word(), reloadable: true,
            "Whether Larder stores a response that sets a cookie. `explicit`: only if the response has an explicit lifetime. "
                + "`never`: Larder does not store it."),
        Setting(
            "cache.targeted_cache_control", \.cache.targetedCacheControl, .list(of: .fieldName), reloadable: true,
            "Response fields that replace `Cache-Control` and `Expires`. Larder uses the first field that is present (RFC 9213)."),
        Setting(
            "cache.status_key", \.cache.statusKey, .boolean, reloadable: true,
            "Whether `Cache-Status` contains the cache key."),
        Setting(
            "cache.max_stale_offline", \.cache.maxStaleOffline,
            .optional(
                .time(), or: "off",
                meaning: "no limit"),
            reloadable: true,
            "How long Larder serves a stale response, counted from the end of its lifetime, while `mode: auto` finds no network. "
                + "`mode: offline` has no such limit."
        ),
        Setting(
            "tls.default", \.tls.fallback, .trustFallback, reloadable: true,
            "Trust policy for hosts not listed in `tls.hosts` or `tls.pins_from`. Policies in those two settings inherit nothing "
                + "from this policy except `connect: intercept`."),
        Setting(
            "tls.hosts", \.tls.hosts, .trustHosts, reloadable: true,
            "Trust policies for hosts: CA certificates, pins and other requirements on a server's certificate."),
        Setting(
            "tls.pins_from", \.tls.pinsFrom, .optional(.path, or: "off", meaning: "no folder"), reloadable: true,
            "A folder of files with trust policies. Each file that ends with `.yaml` or `.yml` is one mapping, as under "
                + "`tls.hosts`."),
        Setting(
            "tls.client_certificates", \.tls.clientCertificates, .clientCertificates, reloadable: true,
            "Client certificates, each sent only to its own host."),
        Setting(
            "tls.connect.verdict_ttl", \.tls.connect.verdictTTL, .time(0...3_600_000), reloadable: true,
            "How long Larder reuses a successful probe of a host for further CONNECT requests to the host. `0s`: Larder probes "
                + "the host for each CONNECT request. If the pins of a host are enforced, Larder always does so."
        ),
        Setting(
            "tls.connect.missing_name", \.tls.connect.missingName, .word(), reloadable: true,
            "Whether the ClientHello that a client sends in a tunnel may lack a host name (SNI). With `deny`, Larder inspects "
                + "the ClientHello in every tunnel, whether or not the host has pins."),
        Setting(
            "tls.connect.encrypted_hello", \.tls.connect.encryptedHello, .word(), reloadable: true,
            "Whether Encrypted Client Hello (ECH) is allowed. Browsers send an extension that looks like ECH to every host."),
        Setting(
            "tls.connect.never_intercept", \.tls.connect.neverIntercept, .list(of: .hostPattern), reloadable: true,
            "Hosts for which Larder opens a tunnel even if `tls.default` intercepts, because the programs that use them accept "
                + "only their vendor's certificates. An entry in `tls.hosts` takes precedence."),
        Setting(
            "tls.connect.http2", \.tls.connect.http2, .word(), reloadable: true,
            "Whether Larder offers HTTP/2 to clients in intercepted tunnels and on listeners with TLS."),
        Setting(
            "tls.connect.alt_svc", \.tls.connect.altSvc, .word(), reloadable: true,
            "Whether Larder removes the `Alt-Svc` field from responses of https origins. The field tells clients about HTTP/3, "
                + "which does not go through a proxy."),
        Setting(
            "tls.connect.other_protocols", \.tls.connect.otherProtocols, .word(), reloadable: true,
            "What Larder does if the ALPN list of a client's ClientHello to an intercepted host has only protocols that Larder does "
                + "not serve. These protocols include HTTP/2 if `tls.connect.http2` is `off`. `tunnel`: Larder verifies the server, then "
                + "opens a tunnel. `deny`: Larder refuses the tunnel."),
        Setting(
            "tls.connect.refusals_kept", \.tls.connect.refusalsKept, .time(0...86_400_000), reloadable: true,
            "If a client rejects Larder's certificate for a host, Larder opens tunnels to this host for this long. This applies "
                + "to hosts that only `tls.default` intercepts. `0s`: never."),
        Setting(
            "tls.authority.folder", \.tls.authority.folder,
            .optional(.path, or: "auto", meaning: "where `larder ca init` creates it"),
            reloadable: true, "The CA that issues certificates for intercepted hosts."),
        Setting(
            "tls.authority.passphrase_file", \.tls.authority.passphraseFile,
            .optional(.path, or: "off", meaning: "the CA's key is not encrypted"), reloadable: true,
            "A file whose first line is the passphrase of the CA's key."),
        Setting(
            "tls.key_log", \.tls.keyLog, .optional(.path, or: "off", meaning: "no file"), reloadable: true,
            "A file to which Larder writes the secrets of TLS connections, for debugging. Anyone who can read it can decrypt "
                + "the traffic."
        ),
        Setting(
            "host_mismatch", \.hostMismatch, .word(), reloadable: true,
            "What happens if the `Host` field differs from the target's host: Larder ignores and rewrites the field, or "
                + "denies the request."
        ),
        Setting(
            "replay.layers", \.recordings.layers, .list(of: .path), reloadable: true,
            "The snapshots with the recorded responses for `replay`, `record_missing` and `diff` ([modes](replay-modes.md)). Larder "
                + "searches them in this order, and uses the first match. "
                + "`cache` as the last entry serves stored responses at any age."),
        Setting(
            "replay.as_of", \.recordings.asOf, .generation, reloadable: true,
            "The newest generation that Larder replays from the snapshots: a number or a time. `newest`: all generations."),
        Setting(
            "replay.sequence_end", \.recordings.sequenceEnd, .word(), reloadable: true,
            "What a request gets after all its recorded responses were used: the first response again, the last response again, "
                + "or 504."),
        Setting(
            "replay.sequence_scope", \.recordings.sequenceScope, .word(), reloadable: true,
            "Which clients share one sequence of recorded responses: all clients of this server, clients with the same user "
                + "name, or clients at the same address."
        ),
        Setting(
            "replay.failures", \.recordings.failures, .word(), reloadable: true,
            "How Larder answers a request whose recording is a failure: with the same failure, or with 504 as if the request "
                + "had not been recorded."),
        Setting(
            "replay.dates", \.recordings.dates, .word(), reloadable: true,
            "The dates of replayed responses: as recorded, or with `Date`, `Expires` and the expiry of cookies moved as if "
                + "the responses were recorded now."),
        Setting(
            "replay.expires_after", \.recordings.expiresAfter, .optional(.time(), or: "off", meaning: "any age"),
            reloadable: true,
            "Maximum age of a snapshot that Larder replays, measured from the newest generation of the snapshot."),
        Setting(
            "replay.on_expired", \.recordings.onExpired, .word(), reloadable: true,
            "What happens to a snapshot older than `replay.expires_after`. `warn`: Larder replays it, and warns. `fail`: Larder "
                + "does not replay it. `refresh`: in `mode: replay`, Larder forwards every request and re-records the snapshot. In "
                + "other modes, and for requests that a rule replays, Larder only warns."),
        Setting(
            "replay.signed_by", \.recordings.signedBy, .list(of: .path), reloadable: true,
            "Files with public keys in PEM. Larder replays only snapshots that were signed with one of these keys. If the list is empty, "
                + "it replays any snapshot."),
        Setting(
            "record.file", \.recordings.file, .optional(.path, or: "off", meaning: "nothing is recorded"), reloadable: true,
            "The snapshot that `mode: record` writes. It is called `FILE.partial` until Larder stops or changes its mode."
        ),
        Setting(
            "record.existing", \.recordings.existing, .word(), reloadable: true,
            "What happens if the file in `record.file` exists. `refuse`: Larder does not start, and leaves the file unchanged. "
                + "`append`: it appends a generation. `overwrite`: it replaces the recording when the new one is complete. `resume`: it "
                + "continues `FILE.partial`."),
        Setting(
            "record.match", \.recordings.match,
            .optional(
                .path, or: "off",
                meaning: "requests are compared unchanged"),
            reloadable: true,
            "A JSON file with the match rules: which parts of requests distinguish recordings. It is stored in the snapshot. "
                + "See [match-rules.md](match-rules.md)."),
        Setting(
            "record.no_store", \.recordings.noStore, .word(), reloadable: true,
            "Whether to record responses that a shared cache may not store (`no-store`, `private`)."),
        Setting(
            "record.unscanned", \.recordings.unscanned, .word(), reloadable: true,
            "Whether Larder records bodies that it cannot search for secrets. `keep`: it records them unchanged. `refuse`: it does "
                + "not record the exchange, and reports an error. `auto`: like `refuse` for JSON and forms, else like `keep`."),
        Setting(
            "recordings.key", \.recordings.key,
            .optional(
                .path, or: "off",
                meaning: "any value matches a recorded secret"),
            reloadable: true,
            "The file with the project's key. A recording contains placeholders instead of secrets, and Larder needs the key to "
                + "recognize these secrets in requests. Keep the key as secret as the secrets themselves."),
        Setting(
            "admin.socket", \.admin.socket, .adminSocket,
            "The Unix socket through which `larder status` and similar commands reach a running Larder. Only its owner can "
                + "use it."),
        Setting(
            "admin.listen", \.admin.listen,
            .optional(
                .plainAddress, or: "off",
                meaning: "`larder ui` opens the page on a free port of 127.0.0.1, for as long as it is used"),
            "The loopback address at which Larder serves its page. Browsers need a link from `larder ui`. See [ui.md](ui.md)."),
        Setting(
            "metrics.listen", \.metrics.listen,
            .optional(.plainAddress, or: "off", meaning: "Larder serves these paths only on the admin socket"),
            "The address at which Larder serves `/metrics`, `/livez` and `/readyz` for monitoring, to anyone who can reach it."),
        Setting(
            "otlp.endpoint", \.otlp.endpoint, .optional(.collector, or: "off", meaning: "Larder sends no traces and no logs"),
            "The OpenTelemetry collector that gets traces and Larder's own log by OTLP over HTTP with JSON. Larder adds `/v1/traces` "
                + "and `/v1/logs`. See [operations.md](operations.md#traces-and-logs-for-opentelemetry)."),
        Setting(
            "otlp.sample", \.otlp.sample, .share,
            "The share of requests that are traced. If a request has a `traceparent` field, this field decides instead."),
        Setting("otlp.service", \.otlp.service, .runName, "The attribute `service.name` of traces and logs."),
        Setting(
            "approvals.file", \.approvals.file, .optional(.path, or: "off", meaning: "no rule is written"), reloadable: true,
            "The file of rules that Larder writes from permanent answers to `ask`, and includes. See [policy.md](policy.md#ask)."),
        Setting(
            "approvals.webhook", \.approvals.webhook, .optional(.webhook, or: "off", meaning: "Larder sends no questions"),
            "The URL to which Larder sends each question of `ask`, as JSON. `larder config show` hides its path and query."),
        Setting(
            "traces.count", \.traces.count, .number(0...1_000_000),
            "Number of recent requests for which each thread keeps its decisions, for `larder explain --id`."),
        Setting(
            "rules", \.rules, .rules, reloadable: true,
            "Which requests are allowed, and how requests and responses are changed, stored and checked."),
        Setting(
            "tests", \.tests, .tests, reloadable: true,
            "Requests with the verdict that the rules must give. Larder does not start with settings whose tests fail, and a reload "
                + "rejects such settings. See [policy.md](policy.md#tests)."),
    ]

    /// The settings whose values differ between `running` and `read` and that take effect only after a restart.
    package static func needingRestart(from running: LarderSettings, to read: LarderSettings) -> [String] {
        settings.filter { !$0.isReloadable && $0.show(running) != $0.show(read) }.map(\.name)
    }

    package static let byName = Dictionary(uniqueKeysWithValues: settings.map { ($0.name, $0) })

    /// The names of groups of settings, such as `store` and `store.memory`.
    package static let groups = Set(
        settings.flatMap { setting in
            (1..<max(1, setting.parts.count)).map { setting.parts.prefix($0).joined(separator: ".") }
        })

    /// The keys that are allowed directly below a group; the group "" is the root.
    static func names(below group: String) -> [String] {
        let depth = group.isEmpty ? 0 : group.split(separator: ".").count
        var seen: Set<String> = []
        return settings.filter { group.isEmpty || $0.name.hasPrefix(group + ".") }.map { $0.parts[depth] }
            .filter { seen.insert($0).inserted }
    }

    /// The probable correction of an unknown key. It is a setting or group of this name at another level. If there is none, it is
    /// the most similar name at this level, or else at another level.
    /// - Parameter names: the names at this level.
    /// - Returns: `nil` if no name is similar enough, or if several settings have the name. A name at another level is given in full.
    static func suggestion(for key: String, among names: [String]) -> String? {
        fullName(of: key) ?? NearestName.of(key, among: names)
            ?? NearestName.of(key, among: lastParts.keys.sorted()).flatMap(fullName)
    }

    private static func fullName(of lastPart: String) -> String? {
        guard let full = lastParts[lastPart], full.count == 1 else { return nil }
        return full[0]
    }

    /// The settings and groups below the root, by the last part of their names.
    private static let lastParts = Dictionary(grouping: settings.map(\.name) + groups.sorted()) { name in
        String(name.split(separator: ".").last ?? "")
    }
}
