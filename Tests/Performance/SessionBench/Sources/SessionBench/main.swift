import Foundation

// What HTTPSession costs beside async-http-client. session.py starts the origin and runs this and session-curl.c in turns.
let arguments = Array(CommandLine.arguments.dropFirst())
do {
    switch arguments.first {
    case "get" where arguments.count == 5:
        let (count, inFlight) = (Int(arguments[3])!, Int(arguments[4])!)
        switch arguments[1] {
        case "session": try await SessionWork().get(arguments[2], count: count, inFlight: inFlight)
        case "thread": try await SessionWork().getOnItsThread(arguments[2], count: count, inFlight: inFlight)
        default: try await PeerWork().get(arguments[2], count: count, inFlight: inFlight)
        }
    case "growth" where arguments.count == 4:
        try await SessionWork().growth(arguments[1], count: Int(arguments[2])!, inFlight: Int(arguments[3])!)
    case "download" where arguments.count == 3: try await SessionWork().download(arguments[1], to: arguments[2])
    case "upload" where arguments.count == 3: try await SessionWork().upload(arguments[2], to: arguments[1])
    case "multipart" where arguments.count == 3: try await SessionWork().multipart(arguments[2], to: arguments[1])
    default:
        print(
            "SessionBench get session|thread|peer URL COUNT FLIGHT, growth URL COUNT FLIGHT, download|upload|multipart URL FILE")
        exit(2)
    }
} catch {
    print("failed: \(error)")
    exit(1)
}
