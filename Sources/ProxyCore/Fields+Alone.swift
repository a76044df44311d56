import HTTPMessage

extension Fields {
    /// A copy of the field lines, in separate storage that contains only their bytes.
    package var alone: Fields {
        var fields = Fields()
        fields.reserve(byteCount: bytes.count, lineCount: count)
        for line in lines { fields.append(name: name(of: line), value: value(of: line)) }
        return fields
    }
}
