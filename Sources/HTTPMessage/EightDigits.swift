/// The eight decimal digits of a number, one in each byte of a word. The first digit is in the lowest byte.
///
/// Each step splits all groups of digits at once. All eight digits cost as much as five divisions one after the other, and no
/// loop is needed.
@usableFromInline
struct EightDigits {
    /// Each byte of the word has a value from 0 to 15.
    @usableFromInline let values: UInt64
    @usableFromInline let characters: UInt64

    /// A number below this bound has at most eight decimal digits.
    @inlinable static var decimalBound: UInt64 { 100_000_000 }

    /// - Parameter number: below `decimalBound`.
    @inlinable @inline(__always)
    init(decimal number: UInt64) {
        let high = number / 10_000
        let fours = high | (number &- high &* 10_000) &<< 32
        // Divides by 100 and by 10 with multiplications that are exact for numbers below 10,000 and below 100.
        let hundreds = (fours &* 10_486) &>> 20 & 0x0000_007F_0000_007F
        let twos = hundreds | (fours &- hundreds &* 100) &<< 16
        let tens = (twos &* 103) &>> 10 & 0x000F_000F_000F_000F
        values = tens | (twos &- tens &* 10) &<< 8
        characters = values | 0x3030_3030_3030_3030
    }

    /// Takes fewer steps than `init(decimal:)`, and suffices for most numbers in a head or log line.
    /// - Parameter number: below 1,000.
    @inlinable @inline(__always)
    init(threeDecimal number: UInt64) {
        // Divides by 100 and by 10 with multiplications that are exact for numbers below 1,000 and below 100.
        let hundreds = (number &* 41) &>> 12
        let rest = number &- hundreds &* 100
        let tens = (rest &* 103) &>> 10
        values = hundreds &<< 40 | tens &<< 48 | (rest &- tens &* 10) &<< 56
        characters = values | 0x3030_3030_3030_3030
    }

    @inlinable @inline(__always)
    init(hexadecimal number: UInt32) {
        var digits = UInt64(number.byteSwapped)
        digits = (digits | digits &<< 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits &<< 8) & 0x00FF_00FF_00FF_00FF
        values = (digits &>> 4 | digits &<< 8) & 0x0F0F_0F0F_0F0F_0F0F
        let letters = (values &+ 0x0606_0606_0606_0606) &>> 4 & 0x0101_0101_0101_0101
        characters = (values | 0x3030_3030_3030_3030) &+ letters &* 0x27
    }

    /// The number of digits without leading zeros; 1 for zero.
    @inlinable @inline(__always)
    var significantCount: Int { 8 &- min(7, values.trailingZeroBitCount &>> 3) }
}
