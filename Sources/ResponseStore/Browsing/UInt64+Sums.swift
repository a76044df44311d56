extension UInt64 {
    /// The sum, or the greatest number where that is too small for it: lengths come from files, which say what they like.
    package func addingUpToMax(_ other: UInt64) -> UInt64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
