import CLarderLinux

/// The arguments and variables that this process inherited, as bytes: they need not be UTF-8, and a child gets them unchanged.
package struct InheritedText {
    private let words: [[CChar]]
    private let variables: [[CChar]]

    package init() {
        words = Self.texts(CommandLine.unsafeArgv)
        variables = larder_variables().map(Self.texts) ?? []
    }

    /// The last arguments of the command line, which are the child's.
    package func last(_ command: [String]) -> [[CChar]] {
        zip(command, words.suffix(command.count)).map { word, octets in
            Self.text(octets) == word ? octets : Array(word.utf8CString)
        }
    }

    /// The inherited variables, except those that are set to another value.
    func variables(changing changed: [String: String]) -> [[CChar]] {
        let kept = variables.filter { octets in
            changed[Self.text(octets.prefix { $0 != CChar(UInt8(ascii: "=")) })] == nil
        }
        return kept + changed.map { Array("\($0.key)=\($0.value)".utf8CString) }
    }

    private static func text(_ octets: some Sequence<CChar>) -> String {
        String(decoding: octets.lazy.map { UInt8(bitPattern: $0) }.prefix { $0 != 0 }, as: UTF8.self)
    }

    /// The strings of the list, each with its terminating zero.
    private static func texts(_ list: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> [[CChar]] {
        var texts: [[CChar]] = []
        while let text = list[texts.count] { texts.append(Array(UnsafeBufferPointer(start: text, count: strlen(text) + 1))) }
        return texts
    }
}
