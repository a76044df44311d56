import ProxyPolicy

/// The table of all settings: the one place from which they are read, checked, shown, described to editors
/// (`larder config schema`) and to people (docs/configuration.md).
package enum SettingsSchema {
    package static let settings: [Setting] = [
        Setting(
            "listen", \.listen, .list(of: .listenAddress),
            "Where clients reach Larder. Port 0 lets the system choose (`--port-file` says which it was). An address beyond "
                + "this machine needs `clients.allow` or `clients.passwords`, or asks for certificates (`tls.clients`)."),

        Setting(
            "mode", \.mode, .word(), reloadable: true,
            "Whether Larder asks origins. `offline`: nothing leaves, what is stored is served whatever its age, and what is not there is "
                + "answered with 504. `auto`: the one or the other, as this machine has a network. `replay`: nothing leaves, and what was "
                + "recorded is the answer. `record`: every request goes out, and is recorded. `record_missing`: what was recorded is the "
                + "answer, the rest goes out and is recorded. `refresh`: every request goes out, and is recorded where it is not as it was recorded. "
                + "`diff`: every request goes out, and is compared with what was recorded. A rule can name another one for what it matches. See [replay-modes.md](replay-modes.md)."
        ),

        Setting(
            "store.path", \.store.path, .optional(.path, or: "auto", meaning: "`$XDG_CACHE_HOME/larder/store.sqlite`"),
            "The file that keeps what was fetched, or `:memory:` for none."),
        Setting(
            "store.memory.high", \.store.memory.marks.high, .size(),
            "How much of the store stands in memory; above it the least recently used goes, until the low mark is reached."),
        Setting("store.memory.low", \.store.memory.marks.low, .size(), "The low mark in memory."),
        Setting(
            "store.memory.max_body", \.store.memory.bodyLengthLimit, .size(),
            "The longest body that is kept in memory; never more than `store.memory.high` and 64MiB."),
        Setting("store.disk.high", \.store.disk.high, .size(), "How much is kept on the disk, as in memory."),
        Setting("store.disk.low", \.store.disk.low, .size(), "The low mark on the disk."),

        Setting(
            "loops", \.loops, .optional(.number(1...256), or: "auto", meaning: "one for each core, four at most"),
            "How many threads serve clients."),

        Setting("log.level", \.log.level, .word(), reloadable: true, "How much Larder says about itself, on standard error."),
        Setting(
            "log.access.path", \.log.access.path, .path,
            "Where the line for each request goes; `-` is standard output. SIGUSR1 opens the file again."),
        Setting("log.access.format", \.log.access.format, .word(), "How such a line is written."),
        Setting(
            "log.access.query", \.log.access.includesQuery, .boolean,
            "Whether the query of a URL is logged; it often holds secrets."),

        Setting(
            "limits.request_line", \.limits.requestLineLength, .size(64...(1 << 20)), reloadable: true,
            "The longest request line; a longer one is answered with 414."),
        Setting(
            "limits.head", \.limits.headLength, .size(256...(16 << 20)), reloadable: true,
            "The longest head of a message; 431 for a request."),
        Setting(
            "limits.fields", \.limits.fieldCount, .number(1...10_000), reloadable: true,
            "The most fields in a head; 431 for a request."),
        Setting(
            "limits.request_body", \.limits.requestBodyLength, .optional(.size(), or: "off", meaning: "no limit of our own"),
            reloadable: true,
            "The longest body of a request; 413 above."),
        Setting(
            "limits.checked_bodies", \.limits.checkedBytes, .size((1 << 20)...(1 << 40)), reloadable: true,
            "How much memory the bodies that rules want checked take together; one that finds no room is answered with 503."),

        Setting(
            "timeouts.connect", \.timeouts.connect, .time(), reloadable: true,
            "To look up the origin's name and to connect to it."),
        Setting(
            "timeouts.first_byte", \.timeouts.firstByte, .time(), reloadable: true,
            "From the whole request sent to the head of the response."),
        Setting("timeouts.idle", \.timeouts.idle, .time(), reloadable: true, "Between two pieces of a response's body."),
        Setting(
            "timeouts.total", \.timeouts.total, .optional(.time(), or: "off", meaning: "as long as bytes keep coming"),
            reloadable: true,
            "For one exchange with an origin, from start to end."),
        Setting(
            "timeouts.client_handshake", \.timeouts.clientHandshake, .time(), reloadable: true,
            "For a client in a tunnel that is intercepted, from its first byte, or of a listener that speaks TLS: to the end of its handshake."
        ),
        Setting("timeouts.client_head", \.timeouts.clientHead, .time(), reloadable: true, "For a client to send a whole head."),
        Setting(
            "timeouts.client_body", \.timeouts.clientBody, .time(), reloadable: true,
            "Between two pieces of a request's body, or of a response that the client takes."),
        Setting(
            "timeouts.client_idle", \.timeouts.clientIdle, .time(), reloadable: true, "For a connection between two requests."),
        Setting(
            "timeouts.drain", \.timeouts.drain, .time(), reloadable: true,
            "How long SIGTERM waits for the exchanges under way before it closes them."),

        Setting(
            "upstream.proxy", \.upstream.proxy, .optional(.upstreamProxy, or: "off", meaning: "straight to the origins"),
            reloadable: true,
            "An HTTP proxy through which Larder fetches."),
        Setting(
            "upstream.connections_per_origin", \.upstream.connectionsPerOrigin, .number(1...65_535),
            "The most connections to one origin, of all loops together."),
        Setting(
            "upstream.connections", \.upstream.connections, .number(1...1_000_000),
            "The most connections to all origins; tunnels are not among them."),
        Setting(
            "upstream.queue_wait", \.upstream.queueWait, .time(), reloadable: true,
            "How long a request may wait there; 503 after it."),

        Setting(
            "resolve", \.resolve, .namesToAddresses, reloadable: true,
            "Names that are not looked up: each stands for the address or addresses given here."),
        Setting("tunnel.ports", \.tunnel.ports, .tunnelPorts, reloadable: true, "The ports that CONNECT may reach."),
        Setting(
            "egress.deny", \.egress.deny, .list(of: .addressRange), reloadable: true,
            "Addresses that Larder never connects to, whatever name leads there. By default link-local addresses and the metadata services of clouds."
        ),
        Setting(
            "clients.allow", \.clients.allow, .list(of: .addressRange), reloadable: true,
            "Who may use Larder when it listens beyond this machine. Clients on this machine always may."),
        Setting(
            "clients.passwords", \.clients.passwords, .optional(.path, or: "off", meaning: "nobody is asked for one"),
            reloadable: true,
            "A file with the names and passwords of those who may, in the form of `htpasswd -B`: see "
                + "[clients-access.md](clients-access.md). It is read again with the settings."),
        Setting(
            "clients.authenticate", \.clients.authenticate, .word(), reloadable: true,
            "Who has to send a name and a password: who is neither on this machine nor in `clients.allow`, whoever is not on this "
                + "machine, or everybody. With the last two, `clients.allow` says from where one may come at all, where it is not empty."
        ),
        Setting(
            "clients.purge", \.clients.purge, .list(of: .addressRange), reloadable: true,
            "Who may remove what is stored under a URL with the method PURGE. With nobody, the method is answered 405."),
        Setting(
            "cache.set_cookie", \.cache.setCookie, .word(), reloadable: true,
            "Whether a response that sets a cookie may be stored: with an explicit lifetime, or never."),
        Setting(
            "cache.targeted_cache_control", \.cache.targetedCacheControl, .list(of: .fieldName), reloadable: true,
            "Response fields that are obeyed in place of `Cache-Control` and `Expires`, the first one that is there (RFC 9213)."),
        Setting(
            "cache.status_key", \.cache.statusKey, .boolean, reloadable: true,
            "Whether `Cache-Status` tells the key under which a response is looked for."),
        Setting(
            "cache.max_stale_offline", \.cache.maxStaleOffline, .optional(.time(), or: "off", meaning: "however long"),
            reloadable: true,
            "How long past its lifetime a response is served where `mode: auto` finds no network. `mode: offline` knows no such bound."
        ),
        Setting(
            "tls.default", \.tls.fallback, .trustFallback, reloadable: true,
            "Whom to believe that it is a host which neither `tls.hosts` nor a file of `tls.pins_from` names."),
        Setting(
            "tls.hosts", \.tls.hosts, .trustHosts, reloadable: true,
            "Whom to believe that it is one of these hosts: anchors, pins, and what else a certificate has to be."),
        Setting(
            "tls.pins_from", \.tls.pinsFrom, .optional(.path, or: "off", meaning: "there are none"), reloadable: true,
            "A folder of further files with hosts and their policies: each file in it that ends with `.yaml` or `.yml` is one mapping "
                + "as under `tls.hosts`."),
        Setting(
            "tls.client_certificates", \.tls.clientCertificates, .clientCertificates, reloadable: true,
            "Who Larder is for hosts that ask for a client certificate; each is shown to its host alone."),
        Setting(
            "tls.connect.verdict_ttl", \.tls.connect.verdictTTL, .time(0...3_600_000), reloadable: true,
            "How long the good verdict of a probe serves further CONNECT requests to a host without enforced pins; `0s`: not at all. A host with enforced pins is probed for every CONNECT."
        ),
        Setting(
            "tls.connect.missing_name", \.tls.connect.missingName, .word(), reloadable: true,
            "Whether a client may name no host in the ClientHello that it sends into a tunnel. `deny` has every tunnel looked into, "
                + "be a host pinned or not."),
        Setting(
            "tls.connect.encrypted_hello", \.tls.connect.encryptedHello, .word(), reloadable: true,
            "Whether that may have another ClientHello encrypted in it (ECH). Browsers send what looks so to every host."),
        Setting(
            "tls.connect.never_intercept", \.tls.connect.neverIntercept, .list(of: .hostPattern), reloadable: true,
            "Hosts that get a tunnel although `tls.default` intercepts: programs that believe nobody but their makers could not reach "
                + "them otherwise. An entry in `tls.hosts` goes before it."),
        Setting(
            "tls.connect.other_protocols", \.tls.connect.otherProtocols, .word(), reloadable: true,
            "What a client gets that offers no HTTP/1.1 inside TLS to a host that is intercepted, as gRPC does: a tunnel once the "
                + "server has been judged, or nothing."),
        Setting(
            "tls.connect.refusals_kept", \.tls.connect.refusalsKept, .time(0...86_400_000), reloadable: true,
            "For how long a host that only `tls.default` intercepts gets tunnels once a client has refused our certificate for it; "
                + "`0s`: it does not."),
        Setting(
            "tls.authority.folder", \.tls.authority.folder,
            .optional(.path, or: "auto", meaning: "where `larder ca init` makes it"),
            reloadable: true, "The certificate authority by which hosts are intercepted."),
        Setting(
            "tls.authority.passphrase_file", \.tls.authority.passphraseFile,
            .optional(.path, or: "off", meaning: "its key is not encrypted"), reloadable: true,
            "A file whose first line is the passphrase of its key."),
        Setting(
            "tls.key_log", \.tls.keyLog, .optional(.path, or: "off", meaning: "they are not"), reloadable: true,
            "A file to which the secrets of TLS connections are written, for those who look for a fault. Whoever has it reads what passes."
        ),
        Setting(
            "host_mismatch", \.hostMismatch, .word(), reloadable: true,
            "What a `Host` field does that differs from the target's host: it is ignored and written anew, or the request is denied."
        ),
        Setting(
            "replay.layers", \.recordings.layers, .list(of: .path), reloadable: true,
            "The snapshots that `mode: replay` answers from, asked in this order; the first that has an answer gives it. `cache` as the "
                + "last one is what is stored, whatever its age."),
        Setting(
            "replay.as_of", \.recordings.asOf, .generation, reloadable: true,
            "Up to which generation snapshots are asked, by its number or by a time; `newest`: all."),
        Setting(
            "replay.sequence_end", \.recordings.sequenceEnd, .word(), reloadable: true,
            "What a request gets for which several answers were recorded, when it has got them all: the first again, the last again, or 504."
        ),
        Setting(
            "replay.sequence_scope", \.recordings.sequenceScope, .word(), reloadable: true,
            "Who goes through such answers together: all clients of this server, those who give one name, or those of one address."
        ),
        Setting(
            "replay.failures", \.recordings.failures, .word(), reloadable: true,
            "What a request gets that failed when it was recorded: the same failure, or 504 as if it had not been recorded."),
        Setting(
            "replay.dates", \.recordings.dates, .word(), reloadable: true,
            "How answers are dated: as they were recorded, or with `Date`, `Expires` and what cookies say of their ends moved, as if they had been "
                + "recorded when they are given."),
        Setting(
            "replay.expires_after", \.recordings.expiresAfter, .optional(.time(), or: "off", meaning: "however old"),
            reloadable: true,
            "How long after it was recorded a snapshot may be replayed; its newest generation counts."),
        Setting(
            "replay.on_expired", \.recordings.onExpired, .word(), reloadable: true,
            "What comes of a snapshot that is older: a warning; or it is not replayed at all (`fail`); or, in `mode: replay`, it is recorded anew, as "
                + "`mode: refresh` does: every request goes out, although `replay` lets nothing out. In other modes, and where a rule replays, `refresh` is "
                + "a warning."),
        Setting(
            "replay.signed_by", \.recordings.signedBy, .list(of: .path), reloadable: true,
            "Files with public keys in PEM: only snapshots are replayed that one of them has signed. With none, any are."),
        Setting(
            "record.file", \.recordings.file, .optional(.path, or: "off", meaning: "nothing is recorded"), reloadable: true,
            "The snapshot that `mode: record` makes. It is written as `FILE.partial` until Larder ends, or goes over to another mode."
        ),
        Setting(
            "record.existing", \.recordings.existing, .word(), reloadable: true,
            "What becomes of a file that is there: it is left alone and nothing starts, it gets a further generation, or it is replaced once "
                + "the new one is finished; `resume` goes on with `FILE.partial`."),
        Setting(
            "record.match", \.recordings.match, .optional(.path, or: "off", meaning: "requests are compared as they are"),
            reloadable: true,
            "A JSON file of match rules, kept with the snapshot: see [match-rules.md](match-rules.md)."),
        Setting(
            "record.no_store", \.recordings.noStore, .word(), reloadable: true,
            "Whether responses are recorded that no shared cache may keep (`no-store`, `private`)."),
        Setting(
            "record.unscanned", \.recordings.unscanned, .word(), reloadable: true,
            "What becomes of bodies that cannot be searched for secrets: `auto` refuses JSON and forms and keeps others."),
        Setting(
            "recordings.key", \.recordings.key, .optional(.path, or: "off", meaning: "any value stands for a secret"),
            reloadable: true,
            "The project's key, by which a secret is known again without being in a recording. Whoever may not know the secrets is not to "
                + "have it."),
        Setting(
            "admin.socket", \.admin.socket, .adminSocket,
            "The Unix socket on which `larder status` and its kin reach a running Larder; for its owner alone."),
        Setting(
            "traces.count", \.traces.count, .number(0...1_000_000),
            "For how many of the latest requests each loop remembers its decisions, for `larder explain --id`."),
        Setting("rules", \.rules, .rules, reloadable: true, "What may be asked for, and how it is changed, kept and checked."),
    ]

    /// The settings that differ between what runs and what was read, and that take effect only at the next start.
    package static func needingRestart(from running: LarderSettings, to read: LarderSettings) -> [String] {
        settings.filter { !$0.isReloadable && $0.show(running) != $0.show(read) }.map(\.name)
    }

    package static let byName = Dictionary(uniqueKeysWithValues: settings.map { ($0.name, $0) })

    /// The names that stand above settings, `store` and `store.memory` among them.
    package static let groups = Set(
        settings.flatMap { setting in
            (1..<max(1, setting.parts.count)).map { setting.parts.prefix($0).joined(separator: ".") }
        })

    /// The words that may stand directly below a group; below the root for "".
    static func names(below group: String) -> [String] {
        let depth = group.isEmpty ? 0 : group.split(separator: ".").count
        var seen: Set<String> = []
        return settings.filter { group.isEmpty || $0.name.hasPrefix(group + ".") }.map { $0.parts[depth] }
            .filter { seen.insert($0).inserted }
    }

    /// What was probably meant by an unknown key: a setting or group of this name at another level, the nearest name at this level, or the nearest
    /// at another level.
    /// - Parameter names: the names at this level.
    /// - Returns: `nil` where no name is near, or several settings have it. A name at another level is written in full.
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
