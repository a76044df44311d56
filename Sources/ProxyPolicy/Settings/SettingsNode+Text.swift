import HTTPMessage

extension SettingsNode {
    /// The value of the first entry with this key.
    subscript(key: String) -> SettingsNode? {
        guard case .mapping(let entries) = value else { return nil }
        return entries.first { $0.key == key }?.value
    }

    /// Writes the meaning of the node without its places in the file, in such a way that different meanings give different texts.
    func write(into text: inout [UInt8]) {
        func write(_ kind: StaticString, _ count: Int) {
            text.append(kind)
            text.append(decimal: UInt64(count))
            text.append(":")
        }
        switch value {
        case .scalar(let scalar):
            write(scalar.isQuoted ? "q" : "s", scalar.text.utf8.count)
            text.append(contentsOf: scalar.text.utf8)
        case .sequence(let nodes):
            write("l", nodes.count)
            for node in nodes { node.write(into: &text) }
        case .mapping(let entries):
            write("m", entries.count)
            for entry in entries {
                write("k", entry.key.utf8.count)
                text.append(contentsOf: entry.key.utf8)
                entry.value.write(into: &text)
            }
        }
    }
}
