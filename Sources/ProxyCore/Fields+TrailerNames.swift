import HTTPMessage

extension Fields {
    /// Writes the field Trailer with the names of these trailer fields (RFC 9110 §6.6.2). The origin may have announced other fields, which
    /// it did not send or which Larder removed.
    func writeTrailerNames(into output: inout [UInt8]) {
        guard !isEmpty else { return }
        for (index, line) in lines.enumerated() {
            output.append(index == 0 ? "Trailer: " : ", ")
            output.append(name(of: line))
        }
        output.append("\r\n")
    }
}
