import HTTPMessage
import TextCoding

/// `GET /v1/openapi.json`: the admin API as an OpenAPI 3.1 document, made from the table of routes.
package enum OpenAPIRoute {
    /// - Parameter routes: all other routes of the API.
    package static func route(of routes: [AdminRoute], version: String) -> AdminRoute {
        AdminRoute(.get, "/v1/openapi.json", .read) { _, exchange in
            exchange.answer(json: document(of: routes + [described], version: version))
        }
    }

    /// Stands for this route in the document, which lists all routes. It is never called.
    private static let described = AdminRoute(.get, "/v1/openapi.json", .read) { _, _ in }

    static func document(of routes: [AdminRoute], version: String) -> JSONText {
        var paths: [(String, [AdminRoute])] = []
        for route in routes {
            if let index = paths.firstIndex(where: { $0.0 == route.path }) {
                paths[index].1.append(route)
            } else {
                paths.append((route.path, [route]))
            }
        }
        let items = paths.sorted { $0.0 < $1.0 }.map { path, routes in
            (shown(path), JSONText.object(routes.map { ("\($0.method.name)".lowercased(), operation($0)) }))
        }
        return .object([
            ("openapi", .string("3.1.0")),
            (
                "info",
                .object([
                    ("title", .string("Larder's admin API")), ("version", .string(version)),
                    (
                        "description",
                        .string(
                            "The API of the admin socket. Each path also answers HEAD if it answers GET. Errors are problem details (RFC 9457)."
                        )
                    ),
                ])
            ),
            ("servers", .array([.object([("url", .string("http://larder"))])])), ("paths", .object(items)),
            ("components", .object([("schemas", .object([("Problem", problem)]))])),
        ])
    }

    private static func shown(_ path: String) -> String { path.hasSuffix("/*") ? path.dropLast() + "{id}" : path }

    private static func operation(_ route: AdminRoute) -> JSONText {
        var parameters = route.parameters.map(parameter)
        if route.path.hasSuffix("/*") {
            parameters.append(
                .object([
                    ("name", .string("id")), ("in", .string("path")), ("required", .bool(true)),
                    ("schema", .object([("type", .string("string"))])),
                ]))
        }
        var members: [(String, JSONText)] = []
        if let summary = summaries["\(route.method.name) \(route.path)"] { members.append(("summary", .string(summary))) }
        members += [
            ("x-access", .string(word(of: route.access))), ("parameters", .array(parameters)),
            (
                "responses",
                .object([
                    ("2XX", .object([("description", .string("The result."))])),
                    (
                        "default",
                        .object([
                            ("description", .string("The request was rejected.")),
                            (
                                "content",
                                .object([
                                    (
                                        "application/problem+json",
                                        .object([("schema", .object([("$ref", .string("#/components/schemas/Problem"))]))])
                                    )
                                ])
                            ),
                        ])
                    ),
                ])
            ),
        ]
        return .object(members)
    }

    private static func word(of access: AdminRoute.Access) -> String {
        switch access {
        case .read: "read"
        case .change: "change"
        case .socket: "socket"
        }
    }

    private static func parameter(_ parameter: AdminParameter) -> JSONText {
        let schema: JSONText =
            switch parameter.form {
            case .any: .object([("type", .string("string"))])
            case .count: .object([("type", .string("integer")), ("minimum", .number(0))])
            case .integer: .object([("type", .string("integer"))])
            case .words(let words): .object([("type", .string("string")), ("enum", .array(words.map(JSONText.string)))])
            }
        return .object([
            ("name", .string(parameter.name)), ("in", .string("query")), ("required", .bool(false)),
            ("schema", parameter.isRepeatable ? .object([("type", .string("array")), ("items", schema)]) : schema),
        ])
    }

    private static let problem = JSONText.object([
        ("type", .string("object")), ("required", .array([.string("status"), .string("code"), .string("detail")])),
        (
            "properties",
            .object([
                ("status", .object([("type", .string("integer"))])), ("code", .object([("type", .string("string"))])),
                ("title", .object([("type", .string("string"))])), ("detail", .object([("type", .string("string"))])),
            ])
        ),
    ])

    /// What each route does, by method and path.
    static let summaries: [String: String] = [
        "GET /livez": "Responds if Larder is running.",
        "GET /metrics": "Returns the metrics for Prometheus, as text or as OpenMetrics.",
        "GET /readyz": "Tells whether Larder accepts clients.",
        "GET /v1/approvals": "Lists the requests that wait for an approver.",
        "GET /v1/cache/body": "Returns the body of a stored response.",
        "GET /v1/cache/chains": "Lists the certificate chains of stored responses.",
        "GET /v1/cache/entries": "Lists the stored responses that match the filters.",
        "GET /v1/cache/response": "Shows one stored response.",
        "GET /v1/cache/tally": "Counts the stored responses that match the filters.",
        "GET /v1/clients": "Returns the addresses and certificates that programs need to use this proxy.",
        "GET /v1/events": "Sends requests as they finish, as server-sent events.",
        "GET /v1/farm": "Returns the shared tier and the nodes of the farm.",
        "GET /v1/history": "Returns one sample of the counters for each minute of a day.",
        "GET /v1/mode": "Returns the active mode.",
        "GET /v1/mode/differences": "Lists the responses that differ from the recorded ones.",
        "GET /v1/openapi.json": "Returns this document.",
        "GET /v1/pins/audit": "Lists the handshakes that enforced pins would have rejected.",
        "GET /v1/policy": "Returns the rules, and the denials in groups.",
        "GET /v1/policy/report": "Lists the requests that report mode has forwarded.",
        "GET /v1/recordings": "Returns the active recordings and replay sources.",
        "GET /v1/requests": "Lists the finished requests that match the filters, newest first.",
        "GET /v1/requests/*": "Returns one finished request with its decisions.",
        "GET /v1/settings": "Returns the active settings with their sources, without secrets.",
        "GET /v1/status": "Returns the state and the statistics of this Larder.",
        "GET /v1/traces": "Explains how Larder handled a finished request.",
        "GET /v1/trust": "Returns the trust policies and pins.",
        "GET /v1/trust/servers": "Lists the certificates of servers with stored responses.",
        "POST /v1/approvals": "Allows or denies a request that waits for an approver.",
        "POST /v1/cache/purge": "Removes the stored responses that match the filters.",
        "POST /v1/cache/purge_farm": "Purges the stores of all nodes of the farm, and the shared tier.",
        "POST /v1/cache/verify": "Verifies the store.",
        "POST /v1/explain": "Explains how Larder would handle the request in the content.",
        "POST /v1/mode": "Changes the mode, or makes replayed sequences start again.",
        "POST /v1/page": "Creates a link to the page.",
        "POST /v1/reload": "Reloads the settings.",
        "POST /v1/stop": "Stops Larder.",
    ]
}
