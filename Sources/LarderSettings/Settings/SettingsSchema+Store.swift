extension SettingsSchema {
    static let store: [Setting] = [
        Setting(
            "store.path", \.store.path,
            .optional(.path, or: "auto", meaning: "`$XDG_CACHE_HOME/larder/store.sqlite`"),
            "The file that stores responses. `:memory:` stores them in memory only."),
        Setting(
            "store.memory.high", \.store.memory.marks.high, .size(),
            "Memory for stored responses. Above this mark, Larder evicts the least recently used responses down to "
                + "`store.memory.low`."),
        Setting(
            "store.memory.low", \.store.memory.marks.low, .size(),
            "The mark at which Larder stops evicting stored responses from memory."),
        Setting(
            "store.memory.max_body", \.store.memory.bodyLengthLimit, .size(),
            "Longest body that Larder keeps in memory. Larder limits the value to `store.memory.high` and to 64 MiB."),
        Setting(
            "store.disk.high", \.store.disk.high, .size(),
            "Disk space for stored responses. Above this mark, Larder evicts the least recently used responses down to "
                + "`store.disk.low`."),
        Setting(
            "store.disk.low", \.store.disk.low, .size(), "The mark at which Larder stops evicting stored responses from the disk."
        ),
    ]

    /// The responses that several machines share.
    static let sharedTier: [Setting] = [
        Setting(
            "store.shared.url", \.store.shared.url, .optional(.engine, or: "off", meaning: "no shared tier"),
            "The engine of the shared tier: a Redis or Valkey server, or some nodes of a cluster, separated by commas. "
                + "`rediss://` uses TLS, and the trust policy of the host. See [farm-shared-tier.md](farm-shared-tier.md)."),
        Setting(
            "store.shared.user", \.store.shared.user,
            .optional(.runName, or: "default", meaning: "the engine's default user"), "The ACL user of the engine."),
        Setting(
            "store.shared.password_file", \.store.shared.passwordFile, .optional(.path, or: "off", meaning: "no password"),
            "The file with the password for the engine. Other users must not be able to read it. Larder reads it before each connection."
        ),
        Setting(
            "store.shared.keys", \.store.shared.keys, .optional(.path, or: "auto", meaning: "`$XDG_DATA_HOME/larder/farm`"),
            "The folder with the farm's keys, which `larder farm key` makes. Without `signing.key`, this node only reads."),
        Setting(
            "store.shared.encrypt", \.store.shared.encrypts, .boolean,
            "Whether the heads and bodies that this node writes are encrypted with the farm's key."),
        Setting(
            "store.shared.write", \.store.shared.write, .word(),
            "Which responses this node writes. `all`: each one that a shared cache may share. `second_request`: those that the farm "
                + "requests a second time within a day. `off`: none."),
        Setting(
            "store.shared.max_body", \.store.shared.maximumBody, .size(0...(64 << 20)),
            "Longest body that this node writes to the shared tier."),
        Setting(
            "store.shared.timeout", \.store.shared.timeout, .time(1...10_000),
            "Maximum time that a request waits for the engine. After it, the request goes to the origin."),
        Setting(
            "store.shared.wait", \.store.shared.wait, .time(1...60_000),
            "Maximum time that a request waits for another node that fetches the same response."),
        Setting(
            "store.shared.node", \.store.shared.node, .optional(.runName, or: "auto", meaning: "the machine's name"),
            "The name of this node in `larder farm status`, and in the report of a purge of the whole farm."),
    ]
}
