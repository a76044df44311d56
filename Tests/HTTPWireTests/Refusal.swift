import Testing

@testable import HTTPWire

/// One row of a table of messages to reject: the fault, the bytes, and the expected reason.
struct Refusal: Sendable, CustomTestStringConvertible {
    let name: String
    let octets: [UInt8]
    let reason: String
    let status: UInt16

    init(_ name: String, _ text: String, _ reason: String, status: UInt16 = 400) {
        self.init(name, Array(text.utf8), reason, status: status)
    }

    init(_ name: String, _ octets: [UInt8], _ reason: String, status: UInt16 = 400) {
        self.name = name
        self.octets = octets
        self.reason = reason
        self.status = status
    }

    var testDescription: String { name }
}
