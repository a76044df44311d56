import HTTPMessage
import HTTPSerialization

/// The properties of a snapshot as a whole. The manifest is the first leaf of the Merkle tree with the root `full`, so that root also
/// covers the manifest.
package struct Manifest: Equatable, Sendable {
    /// One recording run.
    package struct Generation: Equatable, Sendable {
        /// The generation's number, counted from 1.
        package let number: UInt32
        package let started: Timestamp

        package init(number: UInt32, started: Timestamp) {
            self.number = number
            self.started = started
        }
    }

    /// The members of the manifest that are computed when the snapshot is finished.
    package struct Totals: Equatable, Sendable {
        package var recordings = 0
        /// The Merkle root `content`.
        package var content = [UInt8](repeating: 0, count: 32)
        /// SHA-256 of the primary keys in canonical order.
        package var keys = [UInt8](repeating: 0, count: 32)
        /// SHA-256 of the lines with method and URI of each recording, in canonical order.
        package var targets = [UInt8](repeating: 0, count: 32)
        /// The length of the lines with method and URI of all recordings, in bytes.
        package var targetsLength = 0
    }

    package var created: Timestamp
    /// The program that wrote the snapshot.
    package var tool: String
    package var generations: [Generation]
    package var terms: MatchTerms
    package var totals = Totals()

    package init(created: Timestamp, tool: String, generations: [Generation], terms: MatchTerms) {
        self.created = created
        self.tool = tool
        self.generations = generations
        self.terms = terms
    }

    static let format = "larder-snapshot/1"

    /// The manifest as text, as stored in the file.
    var text: [UInt8] {
        let value: JSONValue = [
            "content": .string(Hexadecimal.encode(totals.content)),
            "created": .number(JSONNumber(created.milliseconds)),
            "format": .string(Self.format),
            "generations": .array(
                generations.map {
                    ["number": .number(JSONNumber($0.number)), "started": .number(JSONNumber($0.started.milliseconds))]
                }),
            "keys": .string(Hexadecimal.encode(totals.keys)),
            "match": terms.json,
            "recordings": .number(JSONNumber(totals.recordings)),
            "targets": .string(Hexadecimal.encode(totals.targets)),
            "targetsLength": .number(JSONNumber(totals.targetsLength)),
            "tool": .string(tool),
        ]
        return value.text()
    }

    /// - Throws: `malformed` if any byte differs from the text that `text` returns for the same manifest; `tooLarge` if a limit is
    ///   exceeded.
    init(text: [UInt8]) throws(SnapshotError) {
        guard text.count <= SnapshotLimits.manifestLength else { throw .tooLarge("the manifest") }
        let value: JSONValue
        do throws(JSONParseError) {
            value = try JSONValue(parsing: text, options: JSONParseOptions(depthLimit: 16, refusesRepeatedNames: true))
        } catch {
            throw .malformed("the manifest: \(error)")
        }
        let names = [
            "content", "created", "format", "generations", "keys", "match", "recordings", "targets", "targetsLength", "tool",
        ]
        let reader = try JSONMembers(value, of: "manifest", known: names)
        guard try reader.string("format") == Self.format else { throw .notASnapshot("the manifest has a different format") }
        created = Timestamp(milliseconds: Int64(try reader.int("created")))
        tool = try reader.string("tool") ?? ""
        generations = []
        for generation in try reader.array("generations") {
            let members = try JSONMembers(generation, of: "generation", known: ["number", "started"])
            guard generations.count < SnapshotLimits.generations, let number = UInt32(exactly: try members.int("number")) else {
                throw .tooLarge("generations")
            }
            generations.append(
                Generation(number: number, started: Timestamp(milliseconds: Int64(try members.int("started")))))
        }
        terms = try MatchTerms(json: value["match"] ?? .object([:]))
        totals.recordings = try reader.int("recordings")
        totals.content = try reader.digest("content")
        totals.keys = try reader.digest("keys")
        totals.targets = try reader.digest("targets")
        totals.targetsLength = try reader.int("targetsLength")
        guard (0...SnapshotLimits.recordings).contains(totals.recordings),
            (0...totals.recordings * SnapshotLimits.recordLength).contains(totals.targetsLength)
        else { throw .tooLarge("recordings") }
        guard self.text == text else { throw .malformed("the manifest is not in its canonical form") }
    }
}
