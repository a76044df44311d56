/// Why reading a head or trailer section fails; each parser translates it into its own error.
enum SectionError: Error, Equatable {
    case tooLong, tooManyFields
    case line(LineError)
}
