import HTTPMessage

@testable import SecretScanning

/// Values shared by these tests.
enum Samples {
    static let key = ProjectKey(octets: [UInt8](repeating: 7, count: 32))!

    static func fields(_ lines: [(String, String)]) -> Fields {
        var fields = Fields()
        for (name, value) in lines { fields.append(name: name, value: value) }
        return fields
    }
}

extension Array<UInt8> {
    var text: String { String(decoding: self, as: UTF8.self) }
}
