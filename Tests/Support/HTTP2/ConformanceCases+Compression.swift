import HTTP2Wire

/// RFC 7541.
extension ConformanceCase {
    /// GET / by the static table, and an authority.
    private static let get: [UInt8] = [0x82, 0x87, 0x84] + [0x01] + FieldBlock.text(Array("a.example".utf8))

    private static let failed = Reaction.connectionError(.compressionError)

    static let compression: [ConformanceCase] = [
        block("RFC 7541 2.3.1", "Fields of the static table are accepted", get, .accepted),
        block(
            "RFC 7541 2.3.2", "Equal entries in the dynamic table are accepted",
            get + [0x40, 1, 97, 1, 98, 0x40, 1, 97, 1, 98, 0xBE, 0xBF], .accepted),
        block("RFC 7541 2.3.3", "An index behind both tables is an error", get + [0xBE], failed),
        block("RFC 7541 2.3.3", "A name's index behind both tables is an error", get + [0x7E, 1, 97], failed),
        block("RFC 7541 4.2", "A table size update at the beginning is accepted", [0x20] + get, .accepted),
        block("RFC 7541 4.2", "A table size update after a field is an error", get + [0x20], failed),
        block("RFC 7541 4.3", "A table size of 0 evicts all entries", [0x20] + get + [0x40, 1, 97, 1, 98, 0xBE], failed),
        block(
            "RFC 7541 4.4", "An entry larger than the table is accepted and not stored",
            get + [0x40] + FieldBlock.text(Array(repeating: 97, count: 4096)) + [1, 98], .accepted),
        block(
            "RFC 7541 5.1", "An integer of too many bytes is an error", get + [0xFF] + Array(repeating: 0xFF, count: 10) + [0x01],
            failed),
        block("RFC 7541 5.1", "An integer cut off is an error", get + [0xFF, 0x80], failed),
        block("RFC 7541 5.1", "A string cut off is an error", get + [0x00, 5, 97], failed),
        block("RFC 7541 5.1", "A name without a value is an error", get + [0x00, 1, 97], failed),
        block("RFC 7541 5.2", "A Huffman-coded value is accepted", get + [0x00, 1, 97, 0x81, 0x1F], .accepted),
        block("RFC 7541 5.2", "Huffman padding of more than 7 bits is an error", get + [0x00, 1, 97, 0x82, 0x1F, 0xFF], failed),
        block("RFC 7541 5.2", "Huffman padding that is not of ones is an error", get + [0x00, 1, 97, 0x81, 0x18], failed),
        block(
            "RFC 7541 5.2", "A Huffman string with EOS is an error", get + [0x00, 1, 97, 0x84, 0xFF, 0xFF, 0xFF, 0xFF], failed),
        block("RFC 7541 6.1", "Index 0 is an error", get + [0x80], failed),
        block("RFC 7541 6.2.1", "A literal with indexing can be used at once", get + [0x40, 1, 97, 1, 98, 0xBE], .accepted),
        block("RFC 7541 6.2.2", "A literal without indexing is not stored", get + [0x00, 1, 97, 1, 98, 0xBE], failed),
        block("RFC 7541 6.2.3", "A literal never indexed is not stored", get + [0x10, 1, 97, 1, 98, 0xBE], failed),
        block("RFC 7541 6.3", "A table size above the setting is an error", [0x3F, 0xE2, 0x1F] + get, failed),
        block("RFC 7541 6.3", "A table size equal to the setting is accepted", [0x3F, 0xE1, 0x1F] + get, .accepted),
        server(
            "RFC 7541 2.2", "The dynamic table lasts for the connection",
            [
                .headers(1, block: get + [0x40, 1, 97, 1, 98], flags: Frame.endHeaders | Frame.endStream),
                .headers(3, block: get + [0xBE], flags: Frame.endHeaders | Frame.endStream),
            ], .accepted, heads: 2),
        server(
            "4.3", "The field block of a malformed request updates the dynamic table",
            [
                .headers(1, block: get + [0x40, 1, 97, 1, 98, 0x00, 1, 65, 1, 98], flags: Frame.endHeaders | Frame.endStream),
                .headers(3, block: get + [0xBE], flags: Frame.endHeaders | Frame.endStream),
            ], .streamError(1, .protocolError), heads: 1),
    ]
}
