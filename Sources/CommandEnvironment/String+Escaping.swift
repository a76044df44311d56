extension String {
    /// The text with some of its scalars written otherwise.
    ///
    /// Scalar by scalar, as whoever reads it does: a mark that combines with a quote makes another `Character` of both, and no less of a
    /// quote for a shell.
    func escaped(_ escape: (Unicode.Scalar) -> String?) -> String {
        var result = ""
        for scalar in unicodeScalars {
            if let text = escape(scalar) { result += text } else { result.unicodeScalars.append(scalar) }
        }
        return result
    }

    /// Whether one of these scalars stands in it, whatever combines with it.
    func holds(anyOf scalars: String) -> Bool { unicodeScalars.contains { scalars.unicodeScalars.contains($0) } }
}
