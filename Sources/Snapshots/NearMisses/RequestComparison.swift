import HTTPMessage
import HTTPSerialization
import ServerTrust

/// Compares two canonical requests part by part.
struct RequestComparison {
    /// The maximum number of differences in a body that are listed individually.
    static let bodyDifferenceLimit = 16

    private(set) var differences: [RequestDifference] = []

    /// - Parameter nominated: the fields that the recorded response's Vary nominates.
    init(recorded: CanonicalRequest, offered: CanonicalRequest, nominated: [[UInt8]]) {
        compare(.method, recorded.method, offered.method)
        compareTargets(recorded.uri, offered.uri)
        if recorded.bodyDigest != offered.bodyDigest { compareBodies(recorded, offered) }
        var names = (recorded.countedFields + offered.countedFields).map(\.name)
        names += nominated
        for (place, name) in names.enumerated() where !names[..<place].contains(name) {
            compare(
                .field(Self.text(name)), recorded.fields.value(ofAllLinesNamed: name), offered.fields.value(ofAllLinesNamed: name)
            )
        }
    }

    mutating func note(_ difference: RequestDifference) { differences.append(difference) }

    private mutating func compare(_ place: RequestDifference.Place, _ recorded: [UInt8]?, _ offered: [UInt8]?) {
        guard recorded != offered else { return }
        differences.append(RequestDifference(place, recorded: recorded.map(Self.text), offered: offered.map(Self.text)))
    }

    private static func text(_ octets: some Sequence<UInt8>) -> String { String(decoding: Array(octets), as: UTF8.self) }

    // MARK: Targets

    private mutating func compareTargets(_ recorded: [UInt8], _ offered: [UInt8]) {
        guard recorded != offered else { return }
        let (old, new) = (SplitURI(recorded), SplitURI(offered))
        compare(.origin, old.origin, new.origin)
        compare(.path, old.path, new.path)
        let count = differences.count
        comparePairs(old.parameters, new.parameters) { .parameter($0) }
        if differences.count == count, old.query != new.query {
            differences.append(RequestDifference(.parameterOrder, recorded: Self.text(old.query), offered: Self.text(new.query)))
        }
    }

    private mutating func comparePairs(
        _ recorded: [(name: [UInt8], value: [UInt8])], _ offered: [(name: [UInt8], value: [UInt8])],
        _ place: (String) -> RequestDifference.Place
    ) {
        var names: [[UInt8]] = []
        for pair in recorded + offered where !names.contains(pair.name) && names.count < 1024 { names.append(pair.name) }
        func values(_ name: [UInt8], _ pairs: [(name: [UInt8], value: [UInt8])]) -> [UInt8]? {
            let values = pairs.filter { $0.name == name }.map(\.value)
            return values.isEmpty ? nil : Array(values.joined(separator: [ASCII.comma]))
        }
        for name in names { compare(place(Self.text(name)), values(name, recorded), values(name, offered)) }
    }

    // MARK: Bodies

    private mutating func compareBodies(_ recorded: CanonicalRequest, _ offered: CanonicalRequest) {
        let count = differences.count
        if let old = recorded.body, let new = offered.body {
            let options = JSONParseOptions(lengthLimit: 1 << 20)
            if recorded.mediaKind == .json, let old = try? JSONValue(parsing: old, options: options),
                let new = try? JSONValue(parsing: new, options: options)
            {
                // Bodies that do not parse are compared as bytes.
                compare(old, new, below: [])
            } else if recorded.mediaKind == .form {
                comparePairs(SplitURI.pairs(old[...]), SplitURI.pairs(new[...])) { .formField($0) }
            }
        }
        if differences.count == count {
            differences.append(
                RequestDifference(
                    .body, recorded: Self.description(of: recorded), offered: Self.description(of: offered)))
        }
    }

    private static func description(of request: CanonicalRequest) -> String? {
        if request.bodyDigest == [UInt8(ascii: "-")] { return nil }
        let length = request.body.map { "\($0.count) octets, " } ?? ""
        return length + "sha256:" + text(request.bodyDigest.prefix(16)) + "…"
    }

    private mutating func compare(_ recorded: JSONValue?, _ offered: JSONValue?, below parts: [String]) {
        guard recorded != offered, differences.count < Self.bodyDifferenceLimit else { return }
        switch (recorded, offered) {
        case (.object(let old), .object(let new)):
            var names: [String] = []
            for member in old.members + new.members where !names.contains(member.name) && names.count < 1024 {
                names.append(member.name)
            }
            for name in names { compare(old[name], new[name], below: parts + [name]) }
        case (.array(let old), .array(let new)) where old.count == new.count:
            for (place, pair) in zip(old, new).enumerated() { compare(pair.0, pair.1, below: parts + ["\(place)"]) }
        default:
            differences.append(
                RequestDifference(
                    .json(JSONPointer(parts: parts).description), recorded: recorded?.description,
                    offered: offered?.description))
        }
    }
}
