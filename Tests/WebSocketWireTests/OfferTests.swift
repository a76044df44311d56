import HTTPMessage
import Testing

@testable import WebSocketWire

@Suite("Negotiating compression (RFC 7692 §5, §7.1)")
struct OfferTests {
    struct Answer: Sendable, CustomTestStringConvertible {
        let number: String
        let value: String
        /// Server's and client's context, server's and client's window; `nil` for a fault.
        let agreed: [Int]?
        var fault: DeflateOffer.Fault?
        var offer: DeflateOffer? = DeflateOffer()

        var testDescription: String { "\(number) \(value)" }
    }

    private static func offer(_ change: (inout DeflateOffer) -> Void) -> DeflateOffer {
        var offer = DeflateOffer()
        change(&offer)
        return offer
    }
    private static let server12 = offer { $0.serverWindowBits = 12 }
    private static let client10 = offer { $0.clientWindowBits = 10 }
    private static let noServerContext = offer { $0.serverKeepsContext = false }
    private static let noClientContext = offer { $0.clientKeepsContext = false }

    static let answers: [Answer] = [
        Answer(number: "7692-5.1", value: "permessage-deflate", agreed: [1, 1, 15, 15]),
        Answer(number: "7692-5.2", value: "Permessage-Deflate", agreed: [1, 1, 15, 15]),
        Answer(number: "7692-5.3", value: " permessage-deflate ;  server_no_context_takeover ", agreed: [0, 1, 15, 15]),
        Answer(number: "7692-5.4", value: ", permessage-deflate ,", agreed: [1, 1, 15, 15]),
        Answer(number: "7692-5.5", value: "permessage-deflate", agreed: nil, fault: .unknownExtension, offer: nil),
        Answer(number: "7692-5.6", value: "x-webkit-deflate-frame", agreed: nil, fault: .unknownExtension),
        Answer(number: "7692-5.7", value: "permessage-deflate, permessage-deflate", agreed: nil, fault: .unknownExtension),
        Answer(number: "7692-5.8", value: "permessage-deflate, x-other", agreed: nil, fault: .unknownExtension),
        Answer(number: "7692-5.9", value: "permessage-deflate=1", agreed: nil, fault: .unknownExtension),
        Answer(number: "7692-5.10", value: "permessage-deflate; x", agreed: nil, fault: .unknownParameter),
        Answer(number: "7692-5.11", value: "permessage-deflate;", agreed: nil, fault: .unknownParameter),
        Answer(number: "7692-7.1.1.1.1", value: "permessage-deflate; server_no_context_takeover", agreed: [0, 1, 15, 15]),
        Answer(
            number: "7692-7.1.1.1.2", value: "permessage-deflate; server_no_context_takeover=1", agreed: nil,
            fault: .malformedValue),
        Answer(
            number: "7692-7.1.1.1.3", value: "permessage-deflate; server_no_context_takeover; server_no_context_takeover",
            agreed: nil, fault: .repeatedParameter),
        Answer(number: "7692-7.1.1.1.4", value: "permessage-deflate", agreed: nil, fault: .ignoredOffer, offer: noServerContext),
        Answer(
            number: "7692-7.1.1.1.5", value: "permessage-deflate; server_no_context_takeover", agreed: [0, 1, 15, 15],
            offer: noServerContext),
        Answer(number: "7692-7.1.1.2.1", value: "permessage-deflate; client_no_context_takeover", agreed: [1, 0, 15, 15]),
        Answer(
            number: "7692-7.1.1.2.2", value: "permessage-deflate; client_no_context_takeover=x", agreed: nil,
            fault: .malformedValue),
        Answer(number: "7692-7.1.1.2.3", value: "permessage-deflate", agreed: [1, 0, 15, 15], offer: noClientContext),
        Answer(number: "7692-7.1.2.1.1", value: "permessage-deflate; server_max_window_bits=8", agreed: [1, 1, 8, 15]),
        Answer(number: "7692-7.1.2.1.2", value: "permessage-deflate; server_max_window_bits=15", agreed: [1, 1, 15, 15]),
        Answer(number: "7692-7.1.2.1.3", value: "permessage-deflate; server_max_window_bits=\"10\"", agreed: [1, 1, 10, 15]),
        Answer(
            number: "7692-7.1.2.1.4", value: "permessage-deflate; server_max_window_bits", agreed: nil, fault: .malformedValue),
        Answer(
            number: "7692-7.1.2.1.5", value: "permessage-deflate; server_max_window_bits=7", agreed: nil, fault: .malformedValue),
        Answer(
            number: "7692-7.1.2.1.6", value: "permessage-deflate; server_max_window_bits=16", agreed: nil, fault: .malformedValue),
        Answer(
            number: "7692-7.1.2.1.7", value: "permessage-deflate; server_max_window_bits=08", agreed: nil, fault: .malformedValue),
        Answer(
            number: "7692-7.1.2.1.8", value: "permessage-deflate; server_max_window_bits=+9", agreed: nil, fault: .malformedValue),
        Answer(
            number: "7692-7.1.2.1.9", value: "permessage-deflate; server_max_window_bits=13", agreed: nil, fault: .ignoredOffer,
            offer: server12),
        Answer(
            number: "7692-7.1.2.1.10", value: "permessage-deflate; server_max_window_bits=11", agreed: [1, 1, 11, 15],
            offer: server12),
        Answer(number: "7692-7.1.2.1.11", value: "permessage-deflate", agreed: nil, fault: .ignoredOffer, offer: server12),
        Answer(number: "7692-7.1.2.2.1", value: "permessage-deflate; client_max_window_bits=9", agreed: [1, 1, 15, 9]),
        Answer(number: "7692-7.1.2.2.2", value: "permessage-deflate; client_max_window_bits=8", agreed: [1, 1, 15, 8]),
        Answer(
            number: "7692-7.1.2.2.3", value: "permessage-deflate; client_max_window_bits", agreed: nil, fault: .malformedValue),
        Answer(
            number: "7692-7.1.2.2.4", value: "permessage-deflate; client_max_window_bits=12", agreed: [1, 1, 15, 10],
            offer: client10),
        Answer(
            number: "7692-7.1.2.2.5", value: "permessage-deflate; client_max_window_bits=9; client_max_window_bits=9",
            agreed: nil, fault: .repeatedParameter),
        Answer(
            number: "7692-7.1.3.1",
            value:
                "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=9; client_max_window_bits=11",
            agreed: [0, 0, 9, 11]),
    ]

    @Test("Each answer of a server is accepted with its parameters, or is invalid", arguments: answers)
    func accepts(answer: Answer) {
        let value = Array(answer.value.utf8)
        do throws(DeflateOffer.Fault) {
            let agreed = try DeflateOffer.accepted(value.span, of: answer.offer)
            let numbers = agreed.map {
                [$0.serverKeepsContext ? 1 : 0, $0.clientKeepsContext ? 1 : 0, $0.serverWindowBits, $0.clientWindowBits]
            }
            #expect(numbers == answer.agreed)
        } catch { #expect(error == answer.fault) }
    }

    @Test("An answer without an extension is no compression")
    func acceptsNothing() throws {
        let value = Array(" , ".utf8)
        #expect(try DeflateOffer.accepted(value.span, of: DeflateOffer()) == nil)
    }

    @Test("The offer names what differs from the default, and that the server may choose our window")
    func offers() {
        #expect(DeflateOffer().text == "permessage-deflate; client_max_window_bits")
        let offer = Self.offer {
            ($0.serverKeepsContext, $0.clientKeepsContext) = (false, false)
            ($0.serverWindowBits, $0.clientWindowBits) = (10, 11)
        }
        #expect(
            offer.text
                == "permessage-deflate; server_no_context_takeover; client_no_context_takeover; server_max_window_bits=10; "
                + "client_max_window_bits=11")
    }
}
