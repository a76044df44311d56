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
                    allow: {}
                  - name: "line 11"
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

    @Test("Domains, expressions and methods become hosts, paths and methods")
    func importsLists() {
        let imported = SquidImport(
            """
            acl sites dstdomain .example.com www.example.org
            acl api url_regex ^https://api\\.example\\.net/v1/
            acl deep urlpath_regex \\
                ^/pub/
            acl reading method GET HEAD
            acl suffix dstdom_regex (^|\\.)example\\.edu$
            http_access allow sites reading
            http_access allow api
            http_access allow suffix deep
            """)
        #expect(imported.remarks.isEmpty)
        for part in [
            "match: {host: [\"example.com\", \"*.example.com\", \"www.example.org\"], method: [\"GET\", \"HEAD\"]}",
            "match: {scheme: https, host: [\"api.example.net\"], port: 443, path: [\"/v1/**\"]}",
            "match: {host: [\"example.edu\", \"*.example.edu\"], path: [\"/pub/**\"]}", "egress: {default: deny}",
        ] {
            #expect(imported.settings.contains(part), "\(part)")
        }
    }

    @Test(
        "Lines that rules cannot express are listed with their numbers",
        arguments: [
            ("acl a time 10:00-12:00", "http_access deny a"), ("acl a url_regex -i porn", "http_access deny a"),
            ("acl a urlpath_regex \\.exe$", "http_access deny a"), ("acl a dst 10.0.0.1", "http_access allow a"),
            ("acl a dstdomain \"/etc/sites\"", "http_access allow a"), ("acl a dstdomain .h.test", "http_access deny !a"),
        ])
    func listsTheRest(acl: String, access: String) {
        let imported = SquidImport("\(acl)\n\(access)\nhttp_access deny all\n")
        #expect(imported.remarks.last?.line == 2)
        #expect(imported.settings.hasSuffix("rules: []\n"))
    }

    @Test("A line that denies what an earlier one allows is imported, and listed")
    func listsOrder() {
        let imported = SquidImport(
            "acl a dstdomain .h.test\nacl b dstdomain x.h.test\nhttp_access allow a\nhttp_access deny b\nhttp_access deny all\nicp_access allow all\n"
        )
        #expect(imported.remarks.map(\.line) == [4, 6])
        #expect(imported.remarks[0].text.hasPrefix("Larder also denies the requests that line 3 allows"))
    }
}
