import ParentSelection
import TestSupport
import Testing

@Suite("The choice of a parent")
struct ParentSelectionTests {
    private static func names(_ count: Int) -> [String] { (1...count).map { "https://parent-\($0).example:3181" } }

    private static func key(_ number: Int) -> KeyHash { KeyHash(of: "https://origin.example/pool/\(number).deb") }

    private static func firstChoice(_ number: Int, in group: ParentGroupState) -> Int { group.ranking(of: key(number))[0] }

    @Test("Keys are balanced: no member has more than 1.05 times its share", arguments: [2, 3, 5, 16, 64])
    func balance(count: Int) {
        let group = ParentGroupState(Self.names(count))
        let keys = 100_000
        var counts = [Int](repeating: 0, count: count)
        for number in 0..<keys { counts[Self.firstChoice(number, in: group)] += 1 }
        let share = Double(keys) / Double(count)
        // With 64 members, a share has 1,562 keys and a deviation of 39, so four deviations are a tenth of it.
        #expect(Double(counts.max() ?? 0) < share * (count <= 5 ? 1.05 : 1.15))
        #expect(Double(counts.min() ?? 0) > share * (count <= 5 ? 0.95 : 0.85))
    }

    @Test("The loss of one of n members moves only the keys of that member, and spreads them", arguments: [3, 5, 20])
    func movesOneShare(count: Int) {
        var group = ParentGroupState(Self.names(count))
        let before = (0..<20_000).map { Self.firstChoice($0, in: group) }
        group.failed(1, by: .unreachable)
        var moved = 0
        var takers = [Int](repeating: 0, count: count)
        for (number, former) in before.enumerated() {
            guard let choice = group.choose(for: Self.key(number)) else { continue }
            group.ended(choice.member)
            if choice.member == former { continue }
            #expect(former == 1)
            #expect(choice.isSpilled)
            moved += 1
            takers[choice.member] += 1
        }
        #expect(moved == before.count { $0 == 1 })
        #expect(abs(Double(moved) - 20_000 / Double(count)) < 0.1 * 20_000 / Double(count))
        let fair = Double(moved) / Double(count - 1)
        for (member, taken) in takers.enumerated() where member != 1 { #expect(Double(taken) > 0.7 * fair) }
    }

    @Test("The order of the members has no effect, so nodes with differently ordered settings agree")
    func orderless() {
        let names = Self.names(7)
        let first = ParentGroupState(names)
        let second = ParentGroupState(names.reversed())
        for number in 0..<1000 {
            #expect(names[Self.firstChoice(number, in: first)] == names.reversed()[Self.firstChoice(number, in: second)])
        }
    }

    @Test("The hash of a key is the same in every version of Larder")
    func fixedHash() {
        #expect(KeyHash(of: "").value == 0xC381_7C01_6BA4_FF30)
        #expect(KeyHash(of: "https://origin.example/a").value == 0xEC1F_03FB_0888_D0DA)
    }

    @Test("No member has more than 1.25 times the average load, although one key is requested by all")
    func boundsLoad() {
        var group = ParentGroupState(Self.names(4))
        for _ in 0..<1000 { _ = group.choose(for: Self.key(1)) }
        let loads = group.members.map(\.inFlight)
        #expect(loads.reduce(0, +) == 1000)
        #expect((loads.max() ?? 0) <= 313)
        #expect(group.members.reduce(0) { $0 + Int($1.spilledRequests) } >= 1000 - 313)
    }

    @Test("A few requests in flight stay at their first choice")
    func keepsFewTogether() {
        var group = ParentGroupState(Self.names(4))
        let choices = (0..<ParentGroupState.unboundedLoad).map { _ in group.choose(for: Self.key(1)) }
        #expect(choices.allSatisfy { $0?.isSpilled == false })
        let next = group.choose(for: Self.key(1))
        #expect(next?.isSpilled == true)
    }

    @Test("A request tries each member once, in the order of the ranking")
    func triesEachOnce() {
        var group = ParentGroupState(Self.names(3))
        var tried = MemberSet()
        var order: [Int] = []
        while let choice = group.choose(for: Self.key(5), besides: tried) {
            group.failed(choice.member, by: .unreachable)
            group.ended(choice.member)
            tried.insert(choice.member)
            order.append(choice.member)
        }
        #expect(order == group.ranking(of: Self.key(5)))
        #expect(group.upCount == 0)
        #expect(group.members.allSatisfy { $0.inFlight == 0 && $0.failures == 1 && $0.downCount == 1 })
        // With all members down, a request still has a first member to try.
        let again = group.choose(for: Self.key(5))
        #expect(again?.member == order[0])
    }

    @Test("A member is down after three broken responses in a row, and up after a success")
    func health() {
        var group = ParentGroupState(Self.names(2))
        let first = (0..<2).map { _ in group.failed(0, by: .brokenOff) }
        let wasDown = group.succeeded(0, at: 1)
        #expect(first == [false, false] && !wasDown)
        let second = (0..<3).map { _ in group.failed(0, by: .brokenOff) }
        #expect(second == [false, false, true])
        #expect(group.membersToProbe(since: 0) == [0])
        let isBack = group.succeeded(0, at: 5)
        #expect(isBack)
        #expect(group.members[0].isUp)
        #expect(group.membersToProbe(since: 5) == [1])
    }
}
