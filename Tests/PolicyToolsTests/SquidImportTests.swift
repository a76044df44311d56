import Testing

@testable import PolicyTools

@Suite("Importing a squid.conf")
struct SquidImportTests {
    @Test("The recommended configuration becomes settings, and its other directives are listed")
    func importsTheUsual() {
        let imported = SquidImport(
            """
            acl localnet src 10.0.0.0/8   # a comment
            acl localnet src fc00::/7
            acl SSL_ports port 443
            acl Safe_ports port 80 443
            acl Safe_ports port 1025-65535
            acl CONNECT method CONNECT
            http_access deny !Safe_ports
            http_access deny CONNECT !SSL_ports
            http_access allow localhost manager
            http_access allow localnet
            http_access allow localhost
            http_access deny all
            http_port 3128
            """)
        #expect(
            imported.settings == """
                # Imported from a squid.conf.
                clients:
                  allow: ["10.0.0.0/8", "fc00::/7"]
                egress: {default: deny}
                tunnel: {ports: any}
                rules:
                  - name: "line 7"
                    match: {port: [1-79, 81-442, 444-1024]}
                    deny: {}
                  - name: "line 8"
                    match: {port: [1-442, 444-65535], method: ["CONNECT"]}
                    deny: {}
                  - name: "line 10"
                    match: {client: ["10.0.0.0/8", "fc00::/7"]}
                    allow: {}
                  - name: "line 11"
                    match: {client: ["127.0.0.1/32", "::1"]}
                    allow: {}

                """)
        #expect(imported.remarks.map(\.line) == [9, 13])
    }

    @Test("If the last line is not imported, everything else is denied, although Squid may allow it")
    func staysClosed() {
        let lists = "acl bad dstdomain bad.example\nacl hours time 09:00-17:00\nacl ok dstdomain ok.example\n"
        func isOpen(_ lines: String) -> Bool { SquidImport(lists + lines).settings.contains("default: allow") }
        #expect(isOpen("http_access allow ok\nhttp_access deny bad"))
        #expect(!isOpen("http_access deny bad\nhttp_access allow ok hours"))
        #expect(!isOpen("http_access deny bad\nhttp_access deny ok hours"))
    }

    /// The matches of the rules, without their actions.
    private func matches(_ text: String) -> [String] {
        SquidImport(text).settings.split(separator: "\n").filter { $0.hasPrefix("    match: ") }.map { String($0.dropFirst(11)) }
    }

    @Test("Domains, expressions and methods become hosts, paths and methods, for http where a rule looks at requests")
    func importsLists() {
        let text = """
            acl sites dstdomain .example.com www.example.org
            acl api url_regex ^http://api\\.example\\.net/v1/
            acl deep urlpath_regex \\
                ^/pub/
            acl reading method get HEAD
            acl suffix dstdom_regex (^|\\.)example\\.edu$
            acl net src 192.168.0.0/255.255.0.0
            http_access allow sites reading
            http_access allow api net reading
            http_access allow reading net api
            http_access allow suffix deep
            http_access allow CONNECT suffix
            http_access allow net !sites
            """
        let hosts = #"["example.com", "*.example.com", "www.example.org"]"#
        let url =
            #"{scheme: http, host: ["api.example.net"], port: 80, path: ["/v1/**"], client: ["192.168.0.0/16"], method: ["GET", "HEAD"]}"#
        #expect(
            matches(text) == [
                #"{scheme: http, host: \#(hosts), method: ["GET", "HEAD"]}"#, url, url,
                #"{scheme: http, host: ["example.edu", "*.example.edu"], path: ["/pub/**"]}"#,
                #"{scheme: https, host: ["example.edu", "*.example.edu"]}"#,
                #"{client: ["192.168.0.0/16"], not: [{host: \#(hosts)}]}"#,
            ])
        #expect(SquidImport(text).settings.contains("egress: {default: deny}"))
    }

    @Test(
        "A line that allows, and that a rule cannot express, is listed and allows nothing",
        arguments: [
            ("acl a dst 10.0.0.1", "a"), ("acl a dstdomain \"/etc/sites\"", "a"), ("acl a url_regex ^https://h\\.test/a/", "a"),
            ("acl a proto HTTPS", "a"), ("acl a dstdomain *", "a"), ("acl a dstdomain h.test\nacl b dstdomain i.test", "a b"),
            ("acl a url_regex ^http://h\\.test/a/\nacl b port 8080", "a b"), ("acl a urlpath_regex ^/a\\?b", "a"), ("", "none"),
            ("acl a dstdomain -x h.test", "a"), ("acl a method GET\nacl a port 80", "!a"), ("if true\nacl a port 80\nendif", "a"),
        ])
    func listsAllowing(acl: String, words: String) {
        let imported = SquidImport("\(acl)\nhttp_access allow \(words)\nhttp_access deny all\n")
        let line = acl.split(separator: "\n", omittingEmptySubsequences: false).count + 1
        #expect(imported.remarks.contains { $0.line == line && $0.text.hasPrefix("not imported") }, "\(imported.remarks)")
        #expect(imported.settings.hasSuffix("egress: {default: deny}\ntunnel: {ports: any}\nrules: []\n"), "\(imported.settings)")
    }

    @Test(
        "After a line that denies, and that a rule cannot express, no line allows anything",
        arguments: [
            ("acl a time 10:00-12:00", "deny a"), ("acl a url_regex -i bad", "deny a"), ("acl a urlpath_regex \\.exe$", "deny a"),
            ("acl a dstdomain \"/etc/sites\" h.test", "deny a"), ("acl a proxy_auth REQUIRED", "deny !a"), ("", "deny none"),
            ("acl a dst 10.0.0.0/8", "deny !a"), ("acl a port 1-65535", "deny !none"),
        ])
    func closes(acl: String, access: String) {
        let imported = SquidImport("\(acl)\nacl ok port 80\nhttp_access allow ok\nhttp_access \(access)\nhttp_access allow all\n")
        #expect(
            imported.remarks.contains { $0.line == 4 && $0.text.contains("no later line allows anything") }, "\(imported.remarks)"
        )
        #expect(
            imported.remarks.contains {
                $0 == SquidImport.Remark(line: 5, text: "not imported, because the earlier line 4 is not imported")
            }
        )
        #expect(imported.settings.contains("egress: {default: deny}") && imported.settings.contains("line 3"))
    }

    @Test("Of a line that denies, the words that a rule cannot express are left out, so that it denies more")
    func deniesMore() {
        let text = "acl t time 10:00-12:00\nacl h dstdomain h.test\nhttp_access deny h t\nhttp_access allow all\n"
        #expect(matches(text) == [#"{host: ["h.test"]}"#])
        #expect(SquidImport(text).remarks.map(\.line) == [1, 3])
    }

    @Test("A line for requests that none is like is listed, and denies nothing")
    func ignores() {
        let imported = SquidImport("acl a dstdomain *\nhttp_access deny a\nhttp_access allow\nhttp_access allow all\n")
        #expect(imported.remarks.map(\.line) == [1, 2, 3])
        #expect(imported.settings == "# Imported from a squid.conf.\negress: {default: allow}\ntunnel: {ports: any}\nrules: []\n")
    }

    @Test("Lines of one name are one list, for earlier lines too, in any case of the name, and with the ACLs that squid defines")
    func joinsLists() {
        let text = """
            acl bad dstdomain a.test
            http_access deny bad
            http_access deny connect
            http_access allow localhost
            acl BAD dstdomain b.test
            acl localhost src 10.1.1.1
            http_access deny all
            """
        #expect(
            matches(text) == [
                #"{host: ["a.test", "b.test"]}"#, #"{method: ["CONNECT"]}"#, #"{client: ["127.0.0.1/32", "::1", "10.1.1.1"]}"#,
            ])
    }

    @Test("A percent sign of an expression is one of the decoded path, because squid decodes the path first")
    func readsPercent() {
        let text = "acl a urlpath_regex ^/a%20b/c\nhttp_access deny a\nhttp_access allow all\n"
        #expect(matches(text) == [#"{path: ["/a%2520b/c**"]}"#])
    }

    @Test("What a line excludes is denied in tunnels too, where squid denies it")
    func excludes() {
        let text =
            "acl a method GET HEAD\nacl p urlpath_regex ^/a/\nhttp_access deny !a\nhttp_access deny !p\nhttp_access allow all\n"
        #expect(
            matches(text) == [
                #"{not: [{method: ["GET", "HEAD"]}]}"#, #"{method: ["CONNECT"]}"#, #"{not: [{path: ["/a/**"]}]}"#,
                #"{method: ["CONNECT"]}"#,
            ])
    }

    @Test("Addresses of destinations are denied beside those that Larder denies by itself")
    func deniesAddresses() {
        let imported = SquidImport("http_access deny to_localhost\nhttp_access allow all\n")
        #expect(imported.remarks.isEmpty)
        #expect(
            imported.settings.contains(
                #"  addresses: {deny: ["127.0.0.0/8", "0.0.0.0/32", "::1", "::", "169.254.0.0/16", "fe80::/10""#),
            "\(imported.settings)")
    }

    @Test(
        "Other directives that may deny requests leave the import without lines that allow",
        arguments: [
            "adapted_http_access deny a", "http_reply_access allow a", "follow_x_forwarded_for allow all", "miss_access deny all",
        ])
    func otherAccess(line: String) {
        let imported = SquidImport("acl a port 80\nhttp_access allow a\nhttp_access allow all\n\(line)\n")
        #expect(imported.settings.hasSuffix("egress: {default: deny}\ntunnel: {ports: any}\nrules: []\n"))
        #expect(imported.remarks.last?.text.hasSuffix("the import allows nothing") == true)
    }

    @Test("Directives that leave everything allowed change nothing")
    func harmlessAccess() {
        let imported = SquidImport("http_reply_access allow all\nfollow_x_forwarded_for deny all\nhttp_access allow all\n")
        #expect(imported.settings.contains("default: allow") && imported.remarks.count == 2)
    }

    @Test("After `include` no line allows anything")
    func includes() {
        let imported = SquidImport(
            "acl a port 80\nhttp_access allow a\ninclude /etc/squid/conf.d/*.conf\nhttp_access allow all\n")
        #expect(imported.remarks.map(\.line) == [3, 4] && imported.settings.contains("default: deny"))
    }

    @Test("Lines end and continue as in squid, with either line end")
    func readsLines() {
        let lines = [
            "acl a dstdomain one\\", "  .test two\\", "# a comment", "", " .test", "http_access deny a # rest \\", "allow all",
            "",
        ]
        for end in ["\n", "\r\n"] {
            let directives = SquidDirective.all(in: lines.joined(separator: end))
            #expect(
                directives == [
                    SquidDirective(line: 1, words: ["acl", "a", "dstdomain", "one.test", "two.test"]),
                    SquidDirective(line: 6, words: ["http_access", "deny", "a"]),
                ])
        }
        #expect(SquidImport("http_access allow all\\\n").remarks.map(\.line) == [1])
    }

    @Test("An import of the longest file takes a number of steps that does not grow with lines times values")
    func isBounded() {
        let values = (0..<20_000).map { "acl big dstdomain host\($0).test" }
        let lines = (0..<12_000).map { "http_access \($0.isMultiple(of: 2) ? "allow" : "deny") big" }
        let imported = SquidImport((values + lines).joined(separator: "\n"))
        #expect(imported.settings.utf8.count <= 1 << 20)
        #expect(imported.remarks.contains { $0.text.contains("no later line allows anything") })
    }

    @Test("A line that denies what an earlier one allows is imported, and listed")
    func listsOrder() {
        let imported = SquidImport(
            "acl a dstdomain .h.test\nacl b dstdomain x.h.test\nhttp_access allow a\nhttp_access deny b\nhttp_access deny all\nicp_access allow all\n"
        )
        #expect(imported.remarks.map(\.line) == [4, 6])
        #expect(imported.remarks[0].text.contains("even if line 3 allows it"))
    }
}
