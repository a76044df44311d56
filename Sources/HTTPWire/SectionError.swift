/// What stops the reading of a head or trailer section; each reader gives it the name it has with him.
enum SectionError: Error, Equatable {
    case tooLong, tooManyFields
    case line(LineError)
}
