import HTTPMessage
import ProxyPolicy

extension ValueForm where Value == ListenAddress {
    static let plainAddress = text(
        "an address and a port, such as 127.0.0.1:3180 or [::1]:0",
        schema: .pattern(#"^(\[[0-9a-fA-F:.]+\]|[0-9.]+|localhost):[0-9]{1,5}$"#),
        parse: { ListenAddress($0) }, show: { .text($0.description) })

    /// The form of an address, or of a mapping with an address and its TLS settings.
    static let listenAddress = ValueForm(
        about: plainAddress.about + ", or a mapping of `address` and `tls` (see [clients-access.md](clients-access.md#over-tls))",
        schema: .object([
            (
                "anyOf",
                .array([
                    plainAddress.schema,
                    .object([
                        ("type", .string("object")), ("additionalProperties", .bool(false)),
                        ("properties", .object([("address", plainAddress.schema), ("tls", ListenerTerms.schema)])),
                        ("required", .array([.string("address")])),
                    ]),
                ])
            )
        ]),
        read: { cursor, problems in
            if case .mapping = cursor.node.value {
                guard let mapping = cursor.mapping(of: ["address", "tls"], problems: &problems) else { return nil }
                guard let written = mapping["address"] else {
                    cursor.report("expected `address`", to: &problems)
                    return nil
                }
                guard var address = plainAddress.read(written, &problems) else { return nil }
                if let tls = mapping["tls"] {
                    guard let terms = ListenerTerms.read(tls, problems: &problems) else { return nil }
                    address.tls = terms
                }
                return address
            }
            return plainAddress.read(cursor, &problems)
        },
        show: { address in
            guard let tls = address.tls else { return plainAddress.show(address) }
            return .mapping([("address", plainAddress.show(address)), ("tls", tls.shown)])
        })
}

extension ValueForm where Value == String {
    static let path = text(
        "a path", schema: .object([("type", .string("string")), ("minLength", .number(1))]),
        parse: { $0.isEmpty || $0.utf8.contains(0) ? nil : $0 }, show: { .text($0) })

    static let runName = text(
        "1 to 64 letters, digits, `.`, `_` and `-`", schema: .pattern("^[A-Za-z0-9._-]{1,64}$"),
        parse: { name in
            let isPlain = name.utf8.allSatisfy { ASCII.isWord($0) || $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: "-") }
            return isPlain && (1...64).contains(name.utf8.count) ? name : nil
        }, show: { .text($0) })

    static let upstreamProxy = text(
        "the address of a proxy, `SCHEME://[user:password@]host:port`, in which SCHEME is `http`, `https`, `socks5` or `socks5h`",
        schema: .pattern("^(http|https|socks5|socks5h)://.+:[0-9]+/?$"),
        isSecret: true,
        parse: { UpstreamProxyAddress($0) == nil ? nil : $0 }, show: { .text(UpstreamProxyAddress($0)?.redacted ?? "(redacted)") }
    )
}

extension ValueForm where Value == String {
    static let fieldName = text(
        "a field name, such as CDN-Cache-Control", schema: .pattern("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$"),
        parse: { FieldName($0) == nil ? nil : $0 }, show: { .text($0) })
}

extension ValueForm where Value == AddressRange {
    /// The form of an address, or of a range given by its prefix length.
    static let addressRange = text(
        "an address or a range such as 10.0.0.0/8", schema: .pattern(#"^[0-9a-fA-F:.]+(/[0-9]{1,3})?$"#),
        parse: { AddressRange($0) },
        show: { .text($0.description) })
}

extension ValueForm where Value == AllowedAddress {
    /// The form of an address or a range, with or without a port.
    static let allowedAddress = text(
        "an address or a range, such as 10.1.2.3, 10.1.2.3:5432, 10.0.0.0/8 or [fd00::1]:443",
        schema: .pattern(#"^\[?[0-9a-fA-F:.]+(/[0-9]{1,3})?\]?(:[0-9]{1,5})?$"#), parse: { AllowedAddress($0) },
        show: { .text($0.description) })
}

extension ValueForm where Value == IPAddress {
    static let address = text(
        "an IP address", schema: .pattern("^[0-9a-fA-F:.]+$"), parse: { IPAddress($0) }, show: { .text("\($0)") })
}

extension ValueForm where Value == [String: [IPAddress]] {
    /// The form `{NAME: ADDRESS}`, or a list of addresses in place of one. Names are compared in lower case.
    static let namesToAddresses = ValueForm(
        about: "a mapping from host names to an address, or to a list of addresses",
        schema: .object([
            ("type", .string("object")),
            (
                "additionalProperties",
                .object([
                    ("anyOf", .array([ValueForm<IPAddress>.address.schema, ValueForm<[IPAddress]>.list(of: .address).schema]))
                ])
            ),
        ]),
        read: { cursor, problems in
            guard let entries = cursor.entries(problems: &problems) else { return nil }
            var addresses: [String: [IPAddress]] = [:]
            for entry in entries {
                if isHostName(entry.key) {
                    addresses[entry.key.lowercased()] = entry.value.oneOrMore(problems: &problems).compactMap {
                        ValueForm<IPAddress>.address.read($0, &problems)
                    }
                } else {
                    entry.value.report("expected a host name before the address", to: &problems)
                }
            }
            return addresses
        },
        show: { addresses in
            .mapping(
                addresses.sorted { $0.key < $1.key }.map { name, addresses in
                    let shown = addresses.map { ShownValue.text("\($0)") }
                    return (name, shown.count == 1 ? shown[0] : .list(shown))
                })
        })

    private static func isHostName(_ name: String) -> Bool {
        !name.isEmpty
            && name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == 0x2D || $0 == 0x2E || $0 == 0x5F }
    }
}

extension ValueForm where Value == LarderSettings.TunnelPorts {
    static let tunnelPorts: ValueForm = {
        let ports = ValueForm<[Int]>.list(of: .number(1...65_535))
        return ValueForm(
            about: "a list of ports, or `any`",
            schema: .object([("anyOf", .array([ports.schema, .object([("const", .string("any"))])]))]),
            read: { cursor, problems in
                if case .scalar(let scalar) = cursor.node.value, scalar.text == "any" { return .any }
                return ports.read(cursor, &problems).map { .only($0.map { UInt16($0) }) }
            },
            show: { value in
                switch value {
                case .any: .plain("any")
                case .only(let numbers): ports.show(numbers.map { Int($0) })
                }
            })
    }()
}

extension ValueForm where Value == LarderSettings.Rules {
    static let rules = ValueForm(
        about: "a list of rules, see [policy.md](policy.md)",
        schema: .object([("type", .string("array")), ("items", .object([("type", .string("object"))]))]),
        read: { cursor, problems in
            PolicyRuleSet.parse(cursor, problems: &problems).map { LarderSettings.Rules(node: cursor.node, compiled: $0) }
        },
        show: { $0.node.map(RedactedRules.show) ?? .list([]) })
}
