import HTTPMessage
import HTTPSerialization

extension NearMiss {
    /// The near miss as text, for the log and for users: a line for the recording, a line for each difference, and a canonicaliser to
    /// paste.
    package var text: String {
        var lines = [String(decoding: method + [ASCII.space] + uri, as: UTF8.self)]
        for difference in differences {
            lines.append(
                "  \(difference.name): recorded \(difference.recorded ?? "nothing"), requested \(difference.offered ?? "nothing")"
            )
        }
        if let canonicaliser {
            lines.append("  canonicaliser: \(canonicaliser.json)")
            if equalled > 0 {
                lines.append("  with this rule, Larder could no longer tell \(equalled) recordings apart")
            }
        } else if equalled > 0 {
            lines.append(
                "  no rule proposed: with a rule for this path, Larder could no longer tell \(equalled) recordings apart"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The near miss as JSON, for the body of the 504 response.
    package var json: JSONValue {
        func value(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }
        let different = differences.map { difference -> JSONValue in
            ["place": .string(difference.name), "recorded": value(difference.recorded), "asked": value(difference.offered)]
        }
        return [
            "method": .string(String(decoding: method, as: UTF8.self)), "url": .string(String(decoding: uri, as: UTF8.self)),
            "generation": .number(JSONNumber(generation)), "differences": .array(different),
            "canonicaliser": canonicaliser?.json ?? .null, "made_equal": .number(JSONNumber(equalled)),
        ]
    }
}
