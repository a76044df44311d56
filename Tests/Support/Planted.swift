import HTTPMessage

/// Secrets that tests plant; none is a real one.
package enum Planted {
    package static let gitHub = "ghp_" + String(repeating: "a1B2", count: 9)
    package static let fineGrained = "github_pat_" + String(repeating: "A", count: 22) + "_" + String(repeating: "b", count: 59)
    package static let awsID = "AKIA" + "Z7Q2LMNOP3RSTUVW"
    package static let slack = "xoxb-" + "123456789012-abcdefABCDEF"
    package static let webToken = [
        #"{"alg":"HS256","typ":"JWT"}"#, #"{"sub":"1234567890","name":"Alice","exp":1795415999}"#, "signature-octets",
    ].map { Base64.encode(Array($0.utf8)).filter { $0 != "=" } }.joined(separator: ".")
    package static let privateKey = "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n-----END RSA PRIVATE KEY-----"
    package static let opaque = "s3cr3t-0paque-value-93847"

    package static let all = [gitHub, fineGrained, awsID, slack, webToken, privateKey]

    /// Texts that contain a secret as escaped in JSON, queries and forms, with the secret's bytes there.
    package static let escaped: [(text: String, secret: String)] = {
        let jsonKey = privateKey.replacing("\n", with: "\\n")
        let uriKey = privateKey.replacing("\n", with: "%0A").replacing(" ", with: "%20")
        let formKey = uriKey.replacing("%20", with: "+")
        let basic = Base64.encode(Array("user:passwords".utf8)).replacing("=", with: "%3D")
        let bearer = "9a8B7c6D5e4F3g2H1i0J"
        var rows: [(text: String, secret: String)] = []
        func add(_ text: String, _ secret: String) { rows.append((text, secret)) }
        add(#"{"pem":"-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n\#(jsonKey)"}"#, jsonKey)
        add(#"{"env":"A=1\n\#(gitHub)"}"#, gitHub)
        add(#"{"env":"A=1\t\#(awsID)\n"}"#, awsID)
        add(#"{"env":"A=1\r\#(webToken)\n"}"#, webToken)
        add(#"{"env":"A=1\u000a\#(slack)"}"#, slack)
        add(#"{"url":"/?a=1\u0026access_token=\#(opaque)\n"}"#, opaque)
        add("u=is%3D\(gitHub)&x=1", gitHub)
        add("u=a%20\(webToken)", webToken)
        add("u=is%3A\(gitHub)", gitHub)
        add("u=a%0A\(awsID)%0A", awsID)
        add("u=id_token%3D\(webToken)", webToken)
        add("u=a+\(fineGrained)", fineGrained)
        add("u=a%253D\(gitHub)", gitHub)
        add("u=/cb%3Faccess_token%3D\(opaque)%26x", opaque)
        add("x=Bearer%20\(bearer)", bearer)
        add("x=Bearer+\(bearer)&y=1", bearer)
        add("x=Basic%20\(basic)&y=1", basic)
        add("x=Basic+\(basic)", basic)
        add("k=\(formKey)&y=1", formKey)
        add("k=\(uriKey)&y=1", uriKey)
        add("</x?access_token=\(opaque)>; rel=next", opaque)
        add("<a href='/x?access_token=\(opaque)'>", opaque)
        add("/cb#access_token=\(opaque)&state=1", opaque)
        add(#"{"Password":"\#(opaque)"}"#, opaque)
        add("user[password]=\(opaque)&x=1", opaque)
        add("user%5Bpassword%5D=\(opaque)", opaque)
        return rows
    }()
}
