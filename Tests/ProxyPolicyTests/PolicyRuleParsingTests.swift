import ProxyPolicy
import Testing

@Suite("Rules in settings")
struct PolicyRuleParsingTests {
    struct Row: Sendable {
        let rules: String
        let messages: [String]

        init(_ rules: String, _ messages: String...) {
            self.rules = rules
            self.messages = messages
        }
    }

    @Test(
        "Every invalid key or value is reported with its place, its path and the nearest valid name",
        arguments: [
            Row("{}", "f:1:1: rules: expected a list, found a mapping"),
            Row("[x]", "f:1:2: rules[0]: expected a mapping, found a single value"),
            Row("[{deny: {}}]", "f:1:2: rules[0]: the key `name` is missing"),
            Row(
                "[{name: n}]",
                "f:1:2: rules[0]: the rule does nothing: give allow, deny, ask, request, response, cache, validate, transform, mode, limit or upstream"
            ),
            Row("[{name: n, deni: {}, deny: {}}]", "f:1:12: rules[0]: unknown key `deni`; did you mean `deny`?"),
            Row(
                "[{name: \"\", deny: {}}]",
                "f:1:9: rules[0].name: a rule's name must be 1 to 64 visible ASCII characters without \" and \\"),
            Row("[{name: n, deny: true}]", "f:1:18: rules[0].deny: expected a mapping, found a single value"),
            Row("[{name: n, deny: {reson: x}}]", "f:1:19: rules[0].deny: unknown key `reson`; did you mean `reason`?"),
            Row(
                "[{name: n, deny: {reason: \"a\\nb\"}}]",
                "f:1:27: rules[0].deny.reason: a reason must be one line of 1 to 512 bytes"),
            Row("[{name: n, deny: {}, cache: {ttl: 1}}]", "f:1:29: rules[0].cache: a rule with `deny` cannot have other actions"),
            Row(
                "[{name: n, deny: {}},\n {name: n, deny: {}}]", "f:2:2: rules[1]: a rule named `n` is already at line 1"),
            // match
            Row(
                "[{name: n, deny: {}, match: {}}]",
                "f:1:29: rules[0].match: `match` is empty; remove this key if the rule is for every request"),
            Row("[{name: n, deny: {}, match: {hots: a}}]", "f:1:30: rules[0].match: unknown key `hots`; did you mean `host`?"),
            Row(
                "[{name: n, deny: {}, match: {host: a:80}}]",
                "f:1:36: rules[0].match.host: `a:80` is not a host: give the port in the key `port`"),
            Row(
                "[{name: n, deny: {}, match: {host: [a, b/c]}}]",
                "f:1:40: rules[0].match.host[1]: `b/c` is not a host: give only the host, without scheme, path or user"),
            Row(
                "[{name: n, deny: {}, match: {host: ä.example}}]",
                "f:1:36: rules[0].match.host: `ä.example` is not a host: write non-ASCII names in their xn-- form"),
            Row(
                "[{name: n, deny: {}, match: {host: []}}]",
                "f:1:36: rules[0].match.host: the list is empty; remove the key instead"),
            Row(
                "[{name: n, deny: {}, match: {host: {a: b}}}]",
                "f:1:36: rules[0].match.host: expected a value or a list, found a mapping"),
            Row(
                "[{name: n, deny: {}, match: {port: 0}}]",
                "f:1:36: rules[0].match.port: expected a port from 1 to 65535 or a range such as 8000-8999, found `0`"),
            Row(
                "[{name: n, deny: {}, match: {port: 65536}}]",
                "f:1:36: rules[0].match.port: expected a port from 1 to 65535 or a range such as 8000-8999, found `65536`"),
            Row(
                "[{name: n, deny: {}, match: {port: 9-8}}]",
                "f:1:36: rules[0].match.port: expected a port from 1 to 65535 or a range such as 8000-8999, found `9-8`"),
            Row(
                "[{name: n, deny: {}, match: {scheme: htp}}]",
                "f:1:38: rules[0].match.scheme: expected one of http, https, found `htp`; did you mean `http`?"),
            Row(
                "[{name: n, deny: {}, match: {path: a}}]",
                "f:1:36: rules[0].match.path: `a` is not a path: a path must begin with a slash or a star"),
            Row(
                "[{name: n, deny: {}, match: {path: /a?b}}]",
                "f:1:36: rules[0].match.path: `/a?b` is not a path: the query is not part of the path"),
            Row(
                "[{name: n, deny: {}, match: {method: get}}]",
                "f:1:38: rules[0].match.method: `get` is not a method; did you mean `GET`?"),
            Row("[{name: n, deny: {}, match: {method: \"A B\"}}]", "f:1:38: rules[0].match.method: `A B` is not a method"),
            // request and response
            Row(
                "[{name: n, request: {}}]",
                "f:1:21: rules[0].request: nothing to do: give one of remove, default, set, append, upgrade"),
            Row(
                "[{name: n, request: {upgrade: tls}}]",
                "f:1:31: rules[0].request.upgrade: expected https, found `tls`"),
            Row(
                "[{name: n, match: {scheme: https}, request: {upgrade: https}}]",
                "f:1:55: rules[0].request.upgrade: nothing to upgrade: match.scheme excludes http"),
            Row(
                "[{name: n, match: {method: CONNECT}, request: {upgrade: https}}]",
                "f:1:57: rules[0].request.upgrade: nothing to upgrade: Larder cannot change requests inside a CONNECT tunnel"),
            Row("[{name: n, request: {sett: {}}}]", "f:1:22: rules[0].request: unknown key `sett`; did you mean `set`?"),
            Row("[{name: n, request: {set: {}}}]", "f:1:27: rules[0].request.set: no field is listed"),
            Row("[{name: n, request: {set: {\"A B\": c}}}]", "f:1:28: rules[0].request.set.A B: `A B` is not a field name"),
            Row("[{name: n, request: {set: {A: }}}]", "f:1:31: rules[0].request.set.A: expected a value, found nothing"),
            Row("[{name: n, request: {set: {A: b, a: c}}}]", "f:1:34: rules[0].request.set.a: this field is listed twice"),
            Row(
                "[{name: n, request: {set: {A: \" b\"}}}]",
                "f:1:31: rules[0].request.set.A: a field value must not begin or end with a space or tab"),
            Row("[{name: n, response: {remove: [A, \"\"]}}]", "f:1:35: rules[0].response.remove[1]: `` is not a field name"),
            Row(
                "[{name: n, response: {set: {Via: x}}}]",
                "f:1:29: rules[0].response.set.Via: Via prevents loops; rules cannot change this field"),
            // cache
            Row("[{name: n, cache: {}}]", "f:1:19: rules[0].cache: nothing to do: give policy, store, ttl or another key"),
            Row(
                "[{name: n, cache: {policy: use-protocol}}]",
                "f:1:28: rules[0].cache.policy: expected one of use_protocol, reload, reload_all, stored_else_load, stored_only, revalidate, found `use-protocol`; did you mean `use_protocol`?"
            ),
            Row("[{name: n, cache: {store: always}}]", "f:1:27: rules[0].cache.store: expected never, found `always`"),
            Row(
                "[{name: n, cache: {ttl: soon}}]",
                "f:1:25: rules[0].cache.ttl: expected a time such as 60, 60s, 5m or 1h, found `soon`"),
            Row("[{name: n, cache: {ttl: 1500ms}}]", "f:1:25: rules[0].cache.ttl: a lifetime is a whole number of seconds"),
            Row(
                "[{name: n, cache: {max_size: 16MB, maxsize: 1}}]",
                "f:1:36: rules[0].cache: unknown key `maxsize`; did you mean `max_size`?"),
            Row(
                "[{name: n, cache: {max_size: big}}]",
                "f:1:30: rules[0].cache.max_size: expected a number of bytes such as 4096, 16MiB or 1.5GiB, found `big`"),
            Row(
                "[{name: n, cache: {store: never, unsafe: true}}]",
                "f:1:42: rules[0].cache.unsafe: `unsafe` has no effect without policy, ttl, ignore, set_cookie: always or key.body: POST"
            ),
            Row(
                "[{name: n, cache: {ttl: 1, unsafe: yes}}]",
                "f:1:36: rules[0].cache.unsafe: expected true or false, found `yes`; did you mean `true`?"),
            // validate
            Row(
                "[{name: n, validate: {}}]",
                "f:1:22: rules[0].validate: nothing to check: give status, content_type or wellformed"),
            Row(
                "[{name: n, validate: {status: 2xx}}]",
                "f:1:31: rules[0].validate.status: expected a status from 100 to 599 or a range such as 200-299, found `2xx`"),
            Row(
                "[{name: n, validate: {status: [200, 299-200]}}]",
                "f:1:37: rules[0].validate.status[1]: expected a status from 100 to 599 or a range such as 200-299, found `299-200`"
            ),
            Row(
                "[{name: n, validate: {content_type: json}}]",
                "f:1:37: rules[0].validate.content_type: expected a media type such as application/json, text/* or */*+json, found `json`"
            ),
            Row(
                "[{name: n, validate: {content_type: text/html;a=b}}]",
                "f:1:37: rules[0].validate.content_type: expected a media type such as application/json, text/* or */*+json without parameters, found `text/html;a=b`"
            ),
            Row(
                "[{name: n, validate: {wellformed: jason}}]",
                "f:1:35: rules[0].validate.wellformed: expected one of json, xml, plist, image, none, found `jason`; did you mean `json`?"
            ),
            Row(
                "[{name: n, validate: {wellformed: [json, image]}}]",
                "f:1:35: rules[0].validate.wellformed: expected one kind, or several in any_of: {any_of: [json, image]}"),
            Row(
                "[{name: n, validate: {wellformed: {any_of: [json, imago]}}}]",
                "f:1:51: rules[0].validate.wellformed.any_of[1]: expected one of json, xml, plist, image, found `imago`; did you mean `image`?"
            ),
            Row(
                "[{name: n, validate: {wellformed: {any_of: [json, json]}}}]",
                "f:1:51: rules[0].validate.wellformed.any_of[1]: this kind is listed twice"),
            Row(
                "[{name: n, validate: {wellformed: {any_of: [json]}}}]",
                "f:1:35: rules[0].validate.wellformed: `any_of` needs two or more kinds"),
            Row(
                "[{name: n, validate: {wellformed: {}}}]",
                "f:1:35: rules[0].validate.wellformed: the key `any_of` is missing"),
            Row(
                "[{name: n, validate: {status: 200, on_failure: bloc}}]",
                "f:1:48: rules[0].validate.on_failure: expected one of block, annotate, pass, stale, found `bloc`; did you mean `block`?"
            ),
            Row(
                "[{name: n, validate: {status: 200, oversize: stale}}]",
                "f:1:46: rules[0].validate.oversize: expected one of pass, block, found `stale`"),
            Row(
                "[{name: n, validate: {wellformed: json, max_body: 0}}]",
                "f:1:51: rules[0].validate.max_body: expected 1 to 256MiB, found `0`"),
            Row(
                "[{name: n, validate: {wellformed: json, max_body: 257MiB}}]",
                "f:1:51: rules[0].validate.max_body: expected 1 to 256MiB, found `257MiB`"),
            Row(
                "[{name: n, validate: {wellformed: json, replace: true}}]",
                "f:1:50: rules[0].validate.replace: `replace` needs `status` or `content_type` too"),
        ])
    func table(row: Row) throws {
        #expect(try problems(row.rules) == row.messages)
    }

    @Test("All problems of a file are found in one pass, in the order of the file")
    func collectsAll() throws {
        let found = try problems(
            """
            [{name: one, match: {hots: a, port: x}, deny: {}},
             {nam: two, request: {set: {Host: a, X: "b\\n"}}, cache: {policy: relod}},
             {name: one, validate: {status: 99, on_failure: x}}]
            """)
        #expect(
            found.map { $0.split(separator: ":").prefix(3).joined(separator: ":") } == [
                "f:1:22", "f:1:37", "f:2:2", "f:2:3", "f:2:29", "f:2:41", "f:2:66", "f:3:2", "f:3:33", "f:3:49",
            ])
    }

    @Test("A name at the limit is accepted, one past it refused", arguments: [(64, 0), (65, 1)])
    func nameLimit(length: Int, count: Int) throws {
        #expect(try problems("[{name: \(String(repeating: "n", count: length)), deny: {}}]").count == count)
    }

    @Test("A field value at the limit is accepted, one past it refused", arguments: [(8192, 0), (8193, 1)])
    func valueLimit(length: Int, count: Int) throws {
        #expect(try problems("[{name: n, request: {set: {A: \(String(repeating: "n", count: length))}}}]").count == count)
    }
}
