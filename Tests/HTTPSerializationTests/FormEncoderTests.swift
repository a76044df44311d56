import HTTPSerialization
import Testing

@Suite("Queries and forms (R8 to R11)")
struct FormEncoderTests {
    private func encode(_ parameters: JSONObject, _ options: FormEncodingOptions = FormEncodingOptions()) -> String {
        FormEncoder(options).encode(parameters)
    }

    @Test("Objects, arrays, Booleans and nulls are written as in AFNetworking, with sorted names")
    func encodesAsAFNetworking() {
        let parameters: JSONObject = [
            "b": ["z": 1, "a": [1, 2.50]], "a": true, "n": nil, "c": "", "f": false, "e": [], "o": JSONValue.object([:]),
        ]
        #expect(encode(parameters) == "a=1&b%5Ba%5D%5B%5D=1&b%5Ba%5D%5B%5D=2.5&b%5Bz%5D=1&c=&f=0&n")
    }

    @Test("Every encoding option has its effect")
    func obeysOptions() {
        let parameters: JSONObject = ["t": ["a", ["x": nil]], "b": true, "n": nil, "s": "a b"]
        #expect(encode(parameters, FormEncodingOptions(arrays: .repeated, booleans: .literal)) == "b=true&n&s=a%20b&t=a&t%5Bx%5D")
        #expect(
            encode(parameters, FormEncodingOptions(arrays: .indices, nulls: .emptyValue, spaces: .plus))
                == "b=1&n=&s=a+b&t%5B0%5D=a&t%5B1%5D%5Bx%5D=")
        #expect(
            encode(parameters, FormEncodingOptions(nulls: .leftOut, sortsNames: false)) == "t%5B%5D=a&b=1&s=a%20b")
    }

    @Test(
        "Letters, digits and -._~/? are not escaped; all other characters are, in UTF-8",
        arguments: [
            ("a/b?c-d.e_f~g", "a/b?c-d.e_f~g"), ("a&b=c#d+e f", "a%26b%3Dc%23d%2Be%20f"), ("中文", "%E4%B8%AD%E6%96%87"),
            ("👴🏻👷", "%F0%9F%91%B4%F0%9F%8F%BB%F0%9F%91%B7"),
            ("!$'()*,;:@[]", "%21%24%27%28%29%2A%2C%3B%3A%40%5B%5D"), ("100%", "100%25"), ("\0\r\n", "%00%0D%0A"),
        ])
    func escapes(text: String, expected: String) {
        #expect(FormEncoder.escape(text) == expected)
    }

    @Test(
        "Parameters are added to the query before the fragment; without parameters the URI stays unchanged",
        arguments: [
            ("http://h/p", "http://h/p?k=v"), ("http://h/p?x", "http://h/p?x&k=v"), ("http://h/p?", "http://h/p?k=v"),
            ("http://h/p?x#f", "http://h/p?x&k=v#f"), ("http://h/p#f?g", "http://h/p?k=v#f?g"),
            ("http://h/p?x&", "http://h/p?x&k=v"),
            ("", "?k=v"), ("#f", "?k=v#f"),
        ])
    func isSafeWithFragments(target: String, expected: String) {
        let encoder = FormEncoder()
        #expect(encoder.appending(["k": "v"], to: target) == expected)
        #expect(encoder.appending([:], to: target) == target)
        #expect(encoder.appending(["e": []], to: target) == target)
    }
}

@Suite("Serializing requests (R9 to R14)")
struct RequestSerializerTests {
    private func octets(_ request: SerializedRequest) -> String? {
        guard case .octets(let octets) = request.content else { return nil }
        return String(decoding: octets, as: UTF8.self)
    }

    @Test(
        "Parameters are in the URI for GET, HEAD and DELETE, in any case, and in the body for other methods",
        arguments: ["get", "HEAD", "Delete", "POST", "PUT"])
    func placesParameters(method: String) throws {
        let request = try FormRequestSerializer().serialize(["k": "v"], method: method, target: "/p#f")
        let isInQuery = !["POST", "PUT"].contains(method)
        #expect(request.target == (isInQuery ? "/p?k=v#f" : "/p#f"))
        #expect(octets(request) == (isInQuery ? nil : "k=v"))
        #expect(request.contentType == (isInQuery ? nil : "application/x-www-form-urlencoded"))
    }

    @Test("An empty form is empty content, with its type")
    func sendsEmptyForms() throws {
        for parameters in [nil, JSONObject()] {
            let request = try FormRequestSerializer().serialize(parameters, method: "POST", target: "/")
            #expect(octets(request) == "")
            #expect(request.content?.length == 0)
            #expect(request.contentType == "application/x-www-form-urlencoded")
        }
    }

    @Test("JSON is content with its type; without parameters there is neither; an array in a query is rejected")
    func sendsJSON() throws {
        let serializer = JSONRequestSerializer()
        let posted = try serializer.serialize(["a": [1, nil]], method: "POST", target: "/")
        #expect(octets(posted) == "{\"a\":[1,null]}")
        #expect(posted.contentType == "application/json")
        let empty = try serializer.serialize(nil, method: "POST", target: "/")
        #expect(empty.content == nil && empty.contentType == nil)
        #expect(try serializer.serialize(["a": 1], method: "GET", target: "/").target == "/?a=1")
        #expect(throws: RequestSerializationError.self) { try serializer.serialize([1], method: "GET", target: "/") }
    }

    @Test("A multipart form without parts leaves the request unchanged, and is rejected for GET and HEAD")
    func sendsMultipart() throws {
        var form = MultipartForm()
        let serializer = MultipartRequestSerializer()
        #expect(try serializer.serialize(form, method: "POST", target: "/").content == nil)
        form.append("a", "b")
        let request = try serializer.serialize(form, method: "POST", target: "/")
        #expect(request.content?.length == form.length)
        #expect(request.contentType == "multipart/form-data; boundary=\(form.boundary)")
        for method in ["GET", "head"] {
            #expect(throws: RequestSerializationError.self) { try serializer.serialize(form, method: method, target: "/") }
        }
    }
}

@Suite("Default fields (R4, R5)")
struct DefaultFieldsTests {
    @Test("Accept-Language has at most six languages, with descending weights, and no invalid language ranges")
    func acceptsLanguages() {
        #expect(
            DefaultFields.acceptLanguage(["zh-Hans-CN", "en", "de", "fr", "it", "es", "pt", "nl"])
                == "zh-Hans-CN;q=1, en;q=0.9, de;q=0.8, fr;q=0.7, it;q=0.6, es;q=0.5")
        #expect(DefaultFields.acceptLanguage(["en\r\nX: y", "de_DE", "", "12", "abcdefghi", "*"]) == "*;q=1")
        #expect(DefaultFields.acceptLanguage(["C.UTF-8"]) == nil)
        #expect(
            DefaultFields.languages(ofLocales: ["de_DE.UTF-8", "C", "en_GB@euro", "de_DE", "POSIX", ""]) == ["de-DE", "en-GB"])
    }

    @Test("A User-Agent is always ASCII")
    func namesTheProgram() {
        #expect(
            DefaultFields.userAgent(product: "Übersicht für Łódź", version: "1.0 β", comment: "Größe (2) \\ 中\r\nX: y")
                == "Ubersicht-fur-Lodz/1.0- (Grosse \\(2\\) \\\\ X: y)")
        #expect(DefaultFields.userAgent(product: "中") == "-")
        let all = String(String.UnicodeScalarView((0xC0...0x17F).compactMap(Unicode.Scalar.init)))
        let folded = DefaultFields.userAgent(product: "x", comment: all)
        #expect(folded.hasPrefix("x (AAAAAAAECEEEEIIIIDNOOOOOOUUUUYTHss") && folded.hasSuffix("WwYyYZzZzZzs)"))
        #expect(folded.utf8.allSatisfy { $0 < 128 })
        #expect(folded.contains("LlLlLlLlLlNnNnNnnNn"))
    }
}
