/// Why reading a head or trailer section fails. Each parser converts it into its own error.
enum SectionError: Error, Equatable {
    case tooLong, tooManyFields
    case line(LineError)
}
