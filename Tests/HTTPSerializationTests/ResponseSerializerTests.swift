import HTTPMessage
import HTTPSerialization
import Testing

@Suite("Response validation (V1 to V5)")
struct ResponseValidationTests {
    private let json = ResponseValidation.json

    private func codes(
        _ validation: ResponseValidation, _ status: Int, _ type: String?, body: Bool = true, method: String = "GET"
    ) -> [ResponseFault.Code] {
        validation.faults(of: ReceivedHead(status: status, contentType: type, method: method), hasBody: body).map(\.code)
    }

    @Test(
        "Media types are compared without case and parameters, with wildcards and suffixes",
        arguments: [
            ("application/json", true), ("Application/JSON; charset=x", true), ("text/javascript", true),
            ("application/problem+json", true),
            ("nonstandard/json", false), ("text/html", false), ("application/jsonp", false), ("json", false), ("", false),
        ])
    func comparesTypes(type: String, isAccepted: Bool) {
        #expect(codes(json, 200, type).isEmpty == isAccepted)
        #expect(codes(ResponseValidation(contentTypes: ["image/*"]), 200, "IMAGE/png").isEmpty)
    }

    @Test("Accepted statuses include both bounds; the default is 2xx, and an empty list accepts any")
    func comparesStatuses() {
        for (status, isAccepted) in [(199, false), (200, true), (299, true), (300, false), (404, false)] {
            #expect(codes(ResponseValidation(), status, nil).isEmpty == isAccepted)
            #expect(codes(ResponseValidation(statuses: []), status, nil).isEmpty)
        }
        #expect(codes(ResponseValidation(statuses: [200...299, 304...304]), 304, nil).isEmpty)
    }

    @Test("The status fault comes before the type fault, and both name the found and the accepted values")
    func ordersFaults() {
        let faults = json.faults(of: ReceivedHead(status: 500, contentType: "text/html"), hasBody: true)
        #expect(faults.map(\.code) == [.unacceptableStatus, .unacceptableContentType])
        #expect(faults[0].detail == "500, not 200-299")
        #expect(faults[1].detail == "text/html, not application/json, text/json, text/javascript, */*+json")
    }

    @Test("V4: empty content never has a wrong type: 204, 304 and HEAD never have content, others may have none")
    func exemptsEmptyResponses() {
        #expect(codes(json, 205, nil, body: false).isEmpty)
        #expect(codes(json, 205, nil, body: true) == [.unacceptableContentType])
        #expect(codes(json, 200, "text/html", body: false).isEmpty)
        #expect(codes(json, 200, "text/html", body: true, method: "HEAD").isEmpty)
        #expect(codes(json, 204, "text/html", body: true).isEmpty)
        #expect(codes(json, 200, nil, body: true) == [.unacceptableContentType])
    }

    @Test("With two Content-Type lines both must be accepted")
    func judgesEachLine() {
        let head = ReceivedHead(status: 200, contentTypes: ["application/json", "text/html"])
        #expect(json.faults(of: head, hasBody: true).map(\.code) == [.unacceptableContentType])
    }

    @Test("The Accept field lists the types without bare suffixes")
    func namesTypes() {
        #expect(json.acceptField == "application/json, text/json, text/javascript")
        #expect(ResponseValidation().acceptField == nil)
    }
}

@Suite("Response serializers (V5 to V7, V12, V13)")
struct ResponseSerializerTests {
    private func serialize<S: ResponseSerializer>(
        _ serializer: S, _ body: String, _ status: Int = 200, _ type: String? = "application/json"
    ) -> SerializedResponse<S.Output> {
        serializer.serialize(ReceivedHead(status: status, contentType: type), Array(body.utf8))
    }

    @Test("JSON: empty content and a single space are null; faults have their position")
    func readsJSON() throws {
        for body in ["", " "] { #expect(try serialize(JSONValueSerializer(), body).get() == .null) }
        let result = serialize(JSONValueSerializer(), "{invalid}")
        #expect(result.faults == [ResponseFault(.malformedJSON, "unexpected_byte at line 1, column 2 (offset 1)", at: 1)])
        #expect(serialize(JSONValueSerializer(), "  ").faults.first?.code == .malformedJSON)
        #expect(serialize(JSONValueSerializer(JSONParseOptions(depthLimit: 1)), "[[]]").faults.first?.code == .tooLarge)
    }

    @Test("An error's content is decoded too, without nulls, but `get` throws because of the status")
    func readsErrorBodies() throws {
        let result = serialize(JSONValueSerializer(stripsNulls: true), "{\"e\":1.0,\"n\":null}", 422)
        #expect(result.value?.description == "{\"e\":1.0}")
        #expect(result.faults.map(\.code) == [.unacceptableStatus])
        let error = try #require(throws: ResponseSerializationError.self) { try result.get() }
        #expect(error.status == 422 && error.code == .unacceptableStatus)
        let broken = serialize(JSONValueSerializer(), "{", 500)
        #expect(broken.faults.map(\.code) == [.malformedJSON, .unacceptableStatus])
        let misfit = serialize(DecodableSerializer<[Int]>(), "{\"e\":1}", 404)
        #expect(misfit.faults.map(\.code) == [.unacceptableStatus, .otherType])
    }

    @Test("Problem details are decoded with any status; members of a wrong type are ignored, other members are kept (RFC 9457)")
    func readsProblemDetails() throws {
        let text = "{\"title\":\"No\",\"status\":\"403\",\"instance\":\"/1\",\"balance\":30}"
        let problem = try serialize(ProblemDetailsSerializer(), text, 403, "application/problem+json").get()
        #expect(problem == ProblemDetails(title: "No", instance: "/1", extensions: ["balance": 30]))
        #expect(problem.type == "about:blank" && problem.description == "No")
        let other = serialize(ProblemDetailsSerializer(), text, 403, "application/json")
        #expect(other.faults.map(\.code) == [.unacceptableContentType])
        let array = serialize(ProblemDetailsSerializer(), "[]", 403, "application/problem+json")
        #expect(array.faults.map(\.code) == [.otherType])
    }

    @Test("Content of an unacceptable type is not decoded")
    func doesNotDecodeOtherTypes() {
        let result = serialize(JSONValueSerializer(), "{}", 200, "text/html")
        #expect(result.value == nil)
        #expect(result.faults.map(\.code) == [.unacceptableContentType])
    }

    @Test("A prefix against script inclusion is skipped, and offsets include it")
    func skipsPrefixes() throws {
        let serializer = JSONValueSerializer(skippedPrefix: ")]}',\n")
        #expect(try serialize(serializer, ")]}',\n[1]").get() == [1])
        #expect(try serialize(serializer, "[1]").get() == [1])
        #expect(serialize(serializer, ")]}',\n[x]").faults.first?.offset == 7)
    }

    @Test("Decodable content gives a value, or the path of the mismatch")
    func readsDecodables() throws {
        struct User: Decodable, Equatable { let id: Int }
        #expect(try serialize(DecodableSerializer(User.self), "{\"id\":1}").get() == User(id: 1))
        let result = serialize(DecodableSerializer([User].self), "[{\"id\":1},{\"id\":\"2\"}]")
        #expect(result.faults == [ResponseFault(.otherType, "1.id: expected a number, found a string")])
        #expect(try serialize(DecodableSerializer(User?.self), "", 204, nil).get() == nil)
        #expect(serialize(DecodableSerializer(User.self), "").faults.first?.code == .otherType)
        #expect(serialize(DecodableSerializer(User.self), "{").faults.first?.code == .malformedJSON)
    }

    private enum Body: Equatable { case json(JSONValue), text(String), octets([UInt8]) }

    @Test("The first serializer that accepts and decodes wins; if none does, each reason is listed")
    func takesTheFirst() throws {
        let json = JSONValueSerializer().map(Body.json)
        let text = TextSerializer(validation: ResponseValidation(contentTypes: ["text/plain"])).map(Body.text)
        let either = FirstOf<Body>([json, text])
        #expect(try serialize(either, "[1]").get() == .json([1]))
        #expect(try serialize(either, "[1]", 200, "text/plain").get() == .text("[1]"))
        let none = serialize(either, "[1", 500)
        #expect(none.faults.map(\.code) == [.noneAccepts, .unacceptableStatus])
        #expect(none.faults[0].detail.contains("malformed_json") && none.faults[0].detail.contains("unacceptable_content_type"))
        let all = FirstOf<Body>([json, RawSerializer().map(Body.octets)])
        #expect(try serialize(all, "[1").get() == .octets([0x5B, 0x31]))
    }

    @Test("Raw content is returned unchanged")
    func readsRaw() throws {
        #expect(try serialize(RawSerializer(), "\0x", 200, nil).get() == [0, 0x78])
        #expect(serialize(RawSerializer(), "x", 404).value == [0x78])
    }

    @Test("A head from the proxy gives the same `ReceivedHead`")
    func readsHeads() {
        var head = ResponseHead()
        head.status = Status(206)
        head.fields.append("Content-Type", "a/b")
        #expect(ReceivedHead(head, to: .head) == ReceivedHead(status: 206, contentType: "a/b", method: "HEAD"))
    }
}
