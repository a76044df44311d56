extension String {
    /// The text with some of its scalars escaped.
    ///
    /// Works scalar by scalar, as the readers do: a quote with a combining mark is another `Character`, but still a quote for a shell.
    func escaped(_ escape: (Unicode.Scalar) -> String?) -> String {
        var result = ""
        for scalar in unicodeScalars {
            if let text = escape(scalar) { result += text } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// Whether it contains one of these scalars, including those with combining marks.
    func holds(anyOf scalars: String) -> Bool { unicodeScalars.contains { scalars.unicodeScalars.contains($0) } }
}
