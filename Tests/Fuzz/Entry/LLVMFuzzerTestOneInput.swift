import FuzzTargets
import Glibc

/// The target that `LARDER_FUZZ_TARGET` names.
private let target: FuzzTarget = {
    let name = getenv("LARDER_FUZZ_TARGET").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget.all.first(where: { $0.name == name }) else {
        fatalError("LARDER_FUZZ_TARGET is none of \(FuzzTarget.all.map(\.name))")
    }
    return target
}()

/// What libFuzzer calls with each input. A broken promise is a crash, whose input it keeps.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    if let fault = target.check(Array(UnsafeBufferPointer(start: start, count: count))) { fatalError(fault) }
    return 0
}
