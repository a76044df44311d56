import CLarderCurl
import CLarderLinux
import EventLoop
import Glibc
import HTTPMessage

/// One connection attempt with libcurl, from name lookup to a connected socket, or to a tunnel through an upstream proxy. Confined to its
/// loop.
final class CurlAttempt: ConnectAttempt {
    private weak var connector: Connector?
    var observer: (any ConnectObserver)?
    let easy: UnsafeMutableRawPointer
    let addresses: AddressPolicy
    private let looksUpOnly: Bool
    /// The first permitted address, if the attempt only looks up a name.
    private(set) var foundAddress: IPAddress?
    let began: MonotonicTime
    private let lists: [UnsafeMutablePointer<curl_slist>]
    private(set) var opened: [(descriptor: Int32, address: IPAddress)] = []
    private(set) var firstRefusal: TransportError?
    private(set) var socketError: Int32 = 0

    init(
        _ connector: Connector, easy: UnsafeMutableRawPointer, lists: [UnsafeMutablePointer<curl_slist>],
        addresses: AddressPolicy, looksUpOnly: Bool, began: MonotonicTime, observer: any ConnectObserver
    ) {
        self.connector = connector
        self.easy = easy
        self.lists = lists
        self.addresses = addresses
        self.looksUpOnly = looksUpOnly
        self.began = began
        self.observer = observer
        // The connector keeps the attempt alive while libcurl may call it for a socket.
        let this = Unmanaged.passUnretained(self).toOpaque()
        precondition(
            larder_curl_set_pointer(easy, CURLOPT_OPENSOCKETDATA, this) == CURLE_OK, "libcurl refused an option")
    }

    deinit {
        for list in lists { curl_slist_free_all(list) }
    }

    /// Whether the name was looked up; a timeout error depends on it.
    private(set) var hasAddress = false

    func cancel() { connector?.letGo(self) }

    /// Called when libcurl requests a socket for this address. The address policy is enforced here (T03, T04).
    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        if !hasAddress {
            hasAddress = true
            connector?.noteLookedUp()
        }
        // If no caller waits for the attempt, no connection is made.
        if observer == nil { return -1 }
        let raw = UnsafeRawPointer(larder_curl_address(address))
        guard let raw, let (remote, port) = IPAddress.withPort(sockaddr: raw, length: Int(address.pointee.addrlen)) else {
            return -1
        }
        if let refusal = addresses.refusal(of: remote, port: port) {
            if firstRefusal == nil { firstRefusal = refusal }
            return -1
        }
        if looksUpOnly {
            if foundAddress == nil { foundAddress = remote }
            return -1
        }
        let type = address.pointee.socktype | larder_sock_nonblock | larder_sock_cloexec
        let descriptor = socket(address.pointee.family, type, address.pointee.protocol)
        if descriptor < 0 { socketError = errno } else { opened.append((descriptor, remote)) }
        return descriptor
    }

    /// Duration of the name lookup, measured by libcurl, in microseconds.
    var lookUpTime: Int {
        var time: curl_off_t = 0
        return larder_curl_get_offset(easy, CURLINFO_NAMELOOKUP_TIME_T, &time) == CURLE_OK ? Int(time) : 0
    }

    func remoteAddress(of descriptor: Int32) -> IPAddress? {
        opened.last { $0.descriptor == descriptor }?.address
    }
}
