import Foundation
import HTTPSerialization
import Testing

@Suite("Types of Foundation, read without Foundation")
struct FoundationFormTests {
    private struct Model: Decodable, Equatable, Sendable {
        var date: Date?
        var dates: [Date]?
        var data: Data?
        var url: URL?
        var price: Decimal?
        var byName: [String: Decimal]?
    }

    private static func read(_ text: String, _ decoder: JSONValueDecoder = .usual) throws -> Model {
        try decoder.decode(Model.self, from: JSONValue(parsing: Array(text.utf8)))
    }

    @Test(
        "Dates of RFC 3339 in any zone, with a fraction or without",
        arguments: [
            ("2026-11-23T06:23:20Z", 1_795_415_000), ("2026-11-23t07:23:20.5+01:00", 1_795_415_000.5),
            ("2026-11-23T01:53:20-0430", 1_795_415_000), ("1970-01-01T00:00:00.000Z", 0), ("2016-12-31T23:59:60Z", 1_483_228_800),
        ] as [(String, Double)])
    func readsDates(text: String, seconds: Double) throws {
        #expect(try Self.read("{\"date\":\"\(text)\"}").date == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "Other texts are no dates",
        arguments: [
            "2026-11-23", "2026-13-23T02:23:20Z", "2026-11-23T02:23:20", "2026-11-23T02:23:20.Z", "2026-11-23T02:23:20+24:00",
            "2026-02-29T00:00:00Z", "2026-11-23T24:00:00Z", "2026-11-23 02:23:20Z",
        ])
    func refusesDates(text: String) throws {
        #expect(throws: DecodingError.self) { try Self.read("{\"date\":\"\(text)\"}") }
    }

    @Test("Dates may be numbers of seconds or milliseconds since 1970, also in arrays")
    func readsNumbers() throws {
        var decoder = JSONValueDecoder()
        decoder.dates = .millisecondsSince1970
        #expect(try Self.read("{\"dates\":[1500,0]}", decoder).dates?.map(\.timeIntervalSince1970) == [1.5, 0])
        decoder.dates = .secondsSince1970
        #expect(try Self.read("{\"date\":1795415000}", decoder).date == Date(timeIntervalSince1970: 1_795_415_000))
        decoder.dates = .asGiven
        #expect(try Self.read("{\"date\":5}", decoder).date == Date(timeIntervalSinceReferenceDate: 5))
    }

    @Test("Data is read from base64, and a URL from a string")
    func readsDataAndURLs() throws {
        let model = try Self.read(#"{"data":"AAECAw==","url":"https://a.example/?q=1"}"#)
        #expect(model.data == Data([0, 1, 2, 3]) && model.url == URL(string: "https://a.example/?q=1"))
        #expect(try Self.read(#"{"data":""}"#).data == Data())
        #expect(throws: DecodingError.self) { try Self.read(#"{"data":"!"}"#) }
        #expect(try Self.read(#"{"data":[7]}"#, JSONValueDecoder()).data == Data([7]))
    }

    @Test(
        "A Decimal keeps all digits of its number",
        arguments: [
            "0", "-0", "1", "-12.50", "0.1", "123456789012345678901234567890.12345678", "1e30", "1000000000000000000000000000000",
            "25E-3", "-3.7e+2", "0.00000000000000000000000000000000000001", "340282366920938463463374607431768211455",
        ])
    func readsDecimals(text: String) throws {
        let price = try #require(try Self.read("{\"price\":\(text)}").price)
        #expect(price == Decimal(string: text))
        #expect(try Self.read("{\"byName\":{\"a\":\(text)}}").byName == ["a": price])
    }

    @Test("A number that no Decimal can express is an error", arguments: ["340282366920938463463374607431768211456", "1e200"])
    func refusesDecimals(text: String) {
        #expect(throws: DecodingError.self) { try Self.read("{\"price\":\(text)}") }
    }

    @Test("Without options the types read the form that they write themselves")
    func keepsTheirForms() throws {
        #expect(throws: DecodingError.self) { try Self.read(#"{"url":"https://a.example/"}"#, JSONValueDecoder()) }
        let model = try Self.read(#"{"url":{"relative":"https://a.example/"}}"#, JSONValueDecoder())
        #expect(model.url == URL(string: "https://a.example/"))
    }

    @Test("A serializer uses the decoder that it gets")
    func isInSerializers() throws {
        let serializer = DecodableSerializer<[Date]>(decoder: .usual)
        let head = ReceivedHead(status: 200, contentType: "application/json")
        let dates = try serializer.serialize(head, Array(#"["1970-01-01T00:00:01Z"]"#.utf8)).get()
        #expect(dates == [Date(timeIntervalSince1970: 1)])
    }
}
