import Foundation
import HTTPSerialization
import Testing

/// One vector of Tests/SerializationVectors/vectors.json, written by the make.py beside it, or of the file in
/// LARDER_SERIALIZATION_VECTORS.
struct SerializationVector: Decodable, Sendable, CustomTestStringConvertible {
    let kind: String
    let about: String
    let text: String?
    let octets: Data?
    let options: [String: String]?
    let expect: String?
    let error: String?

    var testDescription: String { about }
    var input: [UInt8] { octets.map(Array.init) ?? Array((text ?? "").utf8) }
    func option(_ name: String) -> String? { options?[name] }

    static let all: [SerializationVector] = {
        let own = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../SerializationVectors/vectors.json")
        let file = ProcessInfo.processInfo.environment["LARDER_SERIALIZATION_VECTORS"].map { URL(filePath: $0) } ?? own
        guard let data = try? Data(contentsOf: file.standardized),
            let vectors = try? JSONDecoder().decode([SerializationVector].self, from: data)
        else { fatalError("no vectors at \(file)") }
        return vectors
    }()

    static func of(_ kind: String) -> [SerializationVector] { all.filter { $0.kind == kind } }
}

@Suite("Vectors: results of Python libraries")
struct SerializationVectorTests {
    /// Compares a result with the vector: the output, or the reason of the fault.
    private func expect<Fault: Error>(_ vector: SerializationVector, _ result: Result<String, Fault>, word: (Fault) -> String) {
        switch result {
        case .success(let found): #expect(found == vector.expect, "\(vector.kind): \(vector.about), \(vector.error ?? "")")
        case .failure(let fault):
            let found = word(fault)
            #expect(vector.error == found || vector.error == "refused", "\(vector.kind): \(vector.about): \(found) \(fault)")
        }
    }

    @Test("There are at least 1,000 vectors, of every kind")
    func areEnough() {
        let counts = Dictionary(grouping: SerializationVector.all, by: \.kind).mapValues(\.count)
        #expect(SerializationVector.all.count >= 1_000)
        #expect(
            Set(counts.keys) == [
                "query", "target", "multipart", "json", "nulls", "xml", "plist", "image", "text", "digest", "coding",
            ])
    }

    @Test("Queries equal those of urllib")
    func encodesQueries() throws {
        for vector in SerializationVector.of("query") {
            var options = FormEncodingOptions(sortsNames: false)
            if vector.option("arrays") == "repeated" { options.arrays = .repeated }
            if vector.option("arrays") == "indices" { options.arrays = .indices }
            if vector.option("booleans") == "literal" { options.booleans = .literal }
            if vector.option("nulls") == "empty" { options.nulls = .emptyValue }
            if vector.option("nulls") == "out" { options.nulls = .leftOut }
            if vector.option("spaces") == "plus" { options.spaces = .plus }
            let parameters = try #require(try JSONValue(parsing: vector.input).object)
            #expect(FormEncoder(options).encode(parameters) == vector.expect, "\(vector.about)")
        }
        for vector in SerializationVector.of("target") {
            #expect(FormEncoder().appending(["k": "v w"], to: vector.text ?? "") == vector.expect, "\(vector.about)")
        }
    }

    @Test("Multipart forms equal those of urllib3 and requests")
    func framesParts() throws {
        for vector in SerializationVector.of("multipart") {
            let parts = try #require(try JSONValue(parsing: vector.input).array)
            let result = Result { () throws(RequestSerializationError) in
                var form = try MultipartForm(boundary: "b0undary")
                for part in parts {
                    let name = part["name"]?.string ?? ""
                    if let value = part["value"]?.string {
                        form.append(name, value)
                    } else {
                        let octets = Data(base64Encoded: part["octets"]?.string ?? "").map(Array.init) ?? []
                        try form.append(name, octets: octets, fileName: part["file"]?.string, contentType: part["type"]?.string)
                    }
                }
                return Data(try form.octets()).base64EncodedString()
            }
            expect(vector, result) { $0.code.rawValue }
        }
    }

    @Test("JSON is accepted if Python's json accepts it, and numbers keep their text")
    func readsJSON() {
        for vector in SerializationVector.of("json") {
            expect(vector, Result { () throws(JSONParseError) in try JSONValue(parsing: vector.input).description }) {
                $0.reason.rawValue
            }
        }
    }

    @Test("Nulls are removed from objects, or everywhere")
    func removesNulls() {
        for vector in SerializationVector.of("nulls") {
            let options = JSONParseOptions(removesNulls: vector.option("removal") == "members" ? .members : .everywhere)
            let result = Result { () throws(JSONParseError) in try JSONValue(parsing: vector.input, options: options).description
            }
            expect(vector, result) { $0.reason.rawValue }
        }
    }

    @Test("XML trees equal those of expat")
    func readsXML() {
        for vector in SerializationVector.of("xml") {
            let result = Result { () throws(XMLFault) in try XMLTree(parsing: vector.input).root.told.description }
            expect(vector, result) { $0.reason.rawValue }
        }
    }

    @Test("Property lists are read and written as by plistlib")
    func readsPropertyLists() {
        for vector in SerializationVector.of("plist") {
            let result = Result { () throws(PropertyListFault) in
                let value = try PropertyListValue(parsing: vector.input)
                if let form = vector.option("writes") {
                    #expect(try value.octets(form == "xml" ? .xml : .binary) == vector.input, "\(vector.about)")
                }
                return value.told.description
            }
            expect(vector, result) { $0.reason.rawValue }
        }
    }

    @Test("Images have the format and size that Pillow reads")
    func readsImages() {
        for vector in SerializationVector.of("image") {
            let result = Result { () throws(ImageFault) in
                let info = try ImageInfo.reading(vector.input, isWhole: true)
                return info.map { "\($0.kind.rawValue) \($0.width) \($0.height)" } ?? "more is needed"
            }
            expect(vector, result) { $0.reason.rawValue }
        }
    }

    @Test("Texts are decoded as by Python's codecs")
    func readsText() {
        for vector in SerializationVector.of("text") {
            let head = ReceivedHead(status: 200, contentType: "text/plain; charset=\(vector.option("charset") ?? "")")
            let result = Result { () throws(ResponseFault) in try TextSerializer().decode(vector.input, of: head) }
            expect(vector, result) { $0.code.rawValue }
        }
    }

    @Test("Digests equal those of hashlib, and gzip, zlib, brotli and zstandard content is decoded")
    func makesDigestsAndDecodes() {
        for vector in SerializationVector.of("digest") {
            #expect("\(DigestField(of: vector.input, by: [.sha256, .sha512]))" == vector.expect)
        }
        for vector in SerializationVector.of("coding") {
            let result = Result { () throws(CodingFault) in
                let content = try ContentDecoder.decoded(vector.input, contentEncoding: [vector.option("coding") ?? ""])
                return Data(content).base64EncodedString()
            }
            expect(vector, result) { $0.rawValue }
        }
    }
}

extension XMLName {
    /// In ElementTree's notation.
    fileprivate var told: String { namespace.map { "{\($0)}\(local)" } ?? local }
}

extension XMLTree.Element {
    /// Name, attributes and children, with adjacent texts joined, as in make.py.
    fileprivate var told: JSONValue {
        var children: [JSONValue] = []
        for child in self.children {
            switch child {
            case .element(let element): children.append(element.told)
            case .text(let text):
                if case .string(let before) = children.last {
                    children[children.count - 1] = .string(before + text)
                } else {
                    children.append(.string(text))
                }
            case .comment, .processingInstruction: break
            }
        }
        let attributes = attributes.map { JSONValue.array([.string($0.name.told), .string($0.value)]) }
        return .array([.string(name.told), .array(attributes), .array(children)])
    }
}

extension PropertyListValue {
    /// With its type, as in make.py.
    fileprivate var told: JSONValue {
        switch self {
        case .string(let string): ["string", .string(string)]
        case .integer(let integer): ["integer", .string("\(integer)")]
        case .real(let real): ["real", .string(String(real.bitPattern, radix: 16).leftPadded(to: 16))]
        case .bool(let bool): ["bool", .string(bool ? "1" : "0")]
        case .date(let date): ["date", .string(date.description)]
        case .data(let data): ["data", .string(Data(data).base64EncodedString())]
        case .array(let elements): ["array", .array(elements.map(\.told))]
        case .dictionary(let dictionary): ["dict", .array(dictionary.members.map { .array([.string($0.key), $0.value.told]) })]
        case .uid(let number): ["uid", .string("\(number)")]
        }
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String { String(repeating: "0", count: max(0, count - self.count)) + self }
}
