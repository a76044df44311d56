import TestSupport

/// Pseudo-random choices that are the same for the same seed.
struct Chance: RandomNumberGenerator {
    private var generator: SeededGenerator

    init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

    mutating func next() -> UInt64 { generator.next() }

    mutating func isLucky(oneIn odds: Int) -> Bool { Int.random(in: 0..<odds, using: &self) == 0 }

    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[Int.random(in: 0..<elements.count, using: &self)] }

    mutating func cuts(of count: Int) -> [Int] {
        (0..<Int.random(in: 0...5, using: &self)).map { _ in Int.random(in: 0...count, using: &self) }.sorted() + [count]
    }
}
