import HTTPSerialization
import SecretScanning

/// The JSON form of match terms, as in the manifest. Default values are omitted, so equal terms always have the same text.
extension MatchTerms {
    var json: JSONValue {
        var members: [(String, JSONValue)] = []
        if !canonicalisers.isEmpty { members.append(("canonicalisers", .array(canonicalisers.map(\.json)))) }
        if isExact { members.append(("exact", true)) }
        if !fields.isEmpty { members.append(("fields", .array(fields.map(JSONValue.string)))) }
        if secrets != DeclaredSecrets() { members.append(("secrets", secrets.json)) }
        return .object(JSONObject(members))
    }

    /// Reads match terms as a user writes them. A URI may omit the scheme's default port, which the manifest always has.
    /// - Throws: `noJSON`, `malformed`, `tooLarge`.
    package init(text: [UInt8]) throws(SnapshotError) {
        let json: JSONValue
        do throws(JSONParseError) {
            json = try JSONValue(parsing: text)
        } catch {
            throw .noJSON(line: error.line, column: error.column, Self.sentence(error.reason))
        }
        try self.init(json: json)
        for index in canonicalisers.indices { canonicalisers[index].uri = Self.withPort(canonicalisers[index].uri) }
    }

    /// Adds the default port to a URI: `http://a.example/*` becomes `http://a.example:80/*`. A pattern stays unchanged if a `*` covers
    /// the end of the authority.
    private static func withPort(_ uri: String) -> String {
        guard let scheme = uri.firstRange(of: "://"),
            let port = ["http": 80, "https": 443][uri[..<scheme.lowerBound].lowercased()]
        else { return uri }
        let authority = uri[scheme.upperBound...].prefix { !"/?".contains($0) }
        let hasPort = authority.drop { $0 != "]" }.contains(":") || !authority.contains("]") && authority.contains(":")
        guard let last = authority.last, last != "*", !hasPort else { return uri }
        let rest = uri[authority.endIndex...]
        return "\(uri[..<authority.endIndex]):\(port)\(rest.hasPrefix("/") ? "" : "/")\(rest)"
    }

    private static func sentence(_ reason: JSONParseError.Reason) -> String {
        switch reason {
        case .unexpectedByte: "JSON does not allow this byte here"
        case .unexpectedEnd: "the JSON text ends too early"
        default: "this is not JSON: \(reason.rawValue)"
        }
    }

    init(json: JSONValue) throws(SnapshotError) {
        self.init()
        let reader = try JSONMembers(json, of: "match", known: ["canonicalisers", "exact", "fields", "secrets"])
        for value in try reader.array("canonicalisers") { canonicalisers.append(try Canonicaliser(json: value)) }
        guard canonicalisers.count <= Self.canonicaliserLimit,
            canonicalisers.reduce(0, { $0 + $1.replacements.count }) <= Self.replacementLimit
        else { throw .tooLarge("canonicalisers") }
        isExact = try reader.bool("exact")
        fields = try reader.strings("fields").map { $0.lowercased() }
        if let value = json["secrets"] { secrets = try DeclaredSecrets(json: value) }
    }
}

/// The JSON form of declared secrets: an array of JSON pointers, or an object if other secrets are declared too.
extension DeclaredSecrets {
    fileprivate var json: JSONValue {
        let pointers = JSONValue.strings(self.pointers.map(\.description))
        if self == DeclaredSecrets(pointers: self.pointers) { return pointers }
        var members: [(String, JSONValue)] = []
        func note(_ name: String, _ strings: [String]) {
            if !strings.isEmpty { members.append((name, .strings(strings))) }
        }
        note("fields", fields)
        note("form", formFields)
        if !self.pointers.isEmpty { members.append(("json", pointers)) }
        note("patterns", patterns)
        note("public", harmless)
        note("query", parameters)
        return .object(JSONObject(members))
    }

    fileprivate init(json: JSONValue) throws(SnapshotError) {
        self.init()
        if json.array != nil {
            let reader = try JSONMembers(["json": json], of: "match.secrets", known: ["json"])
            pointers = try JSONPointer.reading(try reader.strings("json"))
            return
        }
        let reader = try JSONMembers(
            json, of: "match.secrets", known: ["fields", "form", "json", "patterns", "public", "query"])
        fields = try reader.strings("fields")
        formFields = try reader.strings("form")
        pointers = try JSONPointer.reading(try reader.strings("json"))
        patterns = try reader.strings("patterns")
        harmless = try reader.strings("public")
        parameters = try reader.strings("query")
    }
}

extension JSONPointer {
    static func reading(_ texts: [String]) throws(SnapshotError) -> [JSONPointer] {
        var pointers: [JSONPointer] = []
        for text in texts {
            guard let pointer = JSONPointer(text) else { throw .malformed("\(text) is not a JSON pointer") }
            pointers.append(pointer)
        }
        return pointers
    }
}

extension Canonicaliser {
    package var json: JSONValue {
        var members: [(String, JSONValue)] = []
        if !ignoredFields.isEmpty { members.append(("fields", ["ignore": .strings(ignoredFields)])) }
        if !ignoredFormFields.isEmpty { members.append(("form", ["ignore": .strings(ignoredFormFields)])) }
        if !ignoredPointers.isEmpty { members.append(("json", ["ignore": .strings(ignoredPointers.map(\.description))])) }
        if let method { members.append(("method", .string(method))) }
        var query: [(String, JSONValue)] = []
        if !ignoredParameters.isEmpty { query.append(("ignore", .strings(ignoredParameters))) }
        if sortsQuery { query.append(("sort", true)) }
        if !query.isEmpty { members.append(("query", .object(JSONObject(query)))) }
        if !replacements.isEmpty {
            let written = replacements.map { replacement -> JSONValue in
                [
                    "by": .string(replacement.text), "in": .string(replacement.place.rawValue),
                    "pattern": .string(replacement.pattern),
                ]
            }
            members.append(("replace", .array(written)))
        }
        if hasTimes { members.append(("time", true)) }
        members.append(("uri", .string(uri)))
        if hasUUIDs { members.append(("uuid", true)) }
        return .object(JSONObject(members))
    }

    package init(json: JSONValue) throws(SnapshotError) {
        let names = ["fields", "form", "json", "method", "query", "replace", "time", "uri", "uuid"]
        let reader = try JSONMembers(json, of: "canonicaliser", known: names)
        self.init(uri: try reader.string("uri") ?? "*")
        method = try reader.string("method")
        ignoredFields = try reader.object("fields", known: ["ignore"]).strings("ignore").map { $0.lowercased() }
        ignoredFormFields = try reader.object("form", known: ["ignore"]).strings("ignore")
        ignoredPointers = try JSONPointer.reading(try reader.object("json", known: ["ignore"]).strings("ignore"))
        let query = try reader.object("query", known: ["ignore", "sort"])
        ignoredParameters = try query.strings("ignore")
        sortsQuery = try query.bool("sort")
        for value in try reader.array("replace") {
            let replacement = try JSONMembers(value, of: "replace", known: ["by", "in", "pattern"])
            guard let place = (try replacement.string("in")).flatMap(Replacement.Place.init(rawValue:)),
                let pattern = try replacement.string("pattern")
            else { throw .malformed("a replacement needs `in` (uri, body) and `pattern`") }
            replacements.append(Replacement(place, pattern, by: try replacement.string("by") ?? ""))
        }
        hasTimes = try reader.bool("time")
        hasUUIDs = try reader.bool("uuid")
    }
}

extension JSONValue {
    static func strings(_ strings: [String]) -> JSONValue { .array(strings.map(JSONValue.string)) }
}
