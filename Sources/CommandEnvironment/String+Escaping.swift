extension String {
    /// The text with some of its scalars escaped.
    ///
    /// Compares scalars, as shells do: a quote with a combining mark is a different `Character`, but still a quote for a shell.
    func escaped(_ escape: (Unicode.Scalar) -> String?) -> String {
        var result = ""
        for scalar in unicodeScalars {
            if let text = escape(scalar) { result += text } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// Whether the text contains one of these scalars, even followed by a combining mark.
    func holds(anyOf scalars: String) -> Bool { unicodeScalars.contains { scalars.unicodeScalars.contains($0) } }
}
