import EventLoop
import RESPWire

/// Gets the changes of the engine's nodes.
protocol EngineRouterOwner: AnyObject {
    /// A node accepts commands, or no longer does.
    func nodesChanged()
    func received(push: [RESPValue])
    func note(_ failure: EngineFailure, of address: EngineAddress)
}

/// Sends each command to the node that serves its key: a single server, or the master of the key's slot. Confined to its loop.
///
/// In a cluster, a redirection (MOVED) changes the topology at once and asks for all of it again; ASK redirects one command.
final class EngineRouter {
    typealias Completion = EngineConnection.Completion

    let configuration: EngineConfiguration
    let buffers: EngineBuffers
    let resolver: NameResolver
    private let loop: EventLoop
    private unowned let owner: any EngineRouterOwner
    private var nodes: [EngineAddress: EngineNode] = [:]
    /// `nil` for a single server, or before the first contact.
    private(set) var topology: ClusterTopology?
    private var isAskingForTopology = false
    private var topologyAskedAt = MonotonicTime(nanoseconds: 0)
    private var generator = SystemRandomNumberGenerator()

    private static let redirectionLimit = 5
    /// The pause between two queries for the topology, in milliseconds.
    private static let topologyPause = 200

    init(
        _ configuration: EngineConfiguration, on loop: EventLoop, _ resolver: NameResolver, owner: any EngineRouterOwner
    ) {
        self.configuration = configuration
        self.loop = loop
        self.resolver = resolver
        self.owner = owner
        buffers = EngineBuffers(isSecure: configuration.url.isSecure)
    }

    func start() { for address in configuration.url.nodes { node(address).connect() } }

    func close() {
        for node in nodes.values { node.close() }
        nodes = [:]
    }

    func random() -> UInt64 { generator.next() }

    // MARK: Commands

    /// The node that serves a key, if it accepts commands now.
    func node(for key: [UInt8]) -> EngineNode? {
        if let topology {
            guard let address = topology.master(of: HashSlot.of(key)), let node = nodes[address], node.isOpen else { return nil }
            return node
        }
        return nodes.values.first { $0.isOpen && $0.greeting?.isCluster == false }
    }

    /// Sends a command for a key. The completion is called exactly once, perhaps within this call.
    func send(_ words: [RESPWord], for key: [UInt8], _ completion: @escaping Completion) {
        guard let node = node(for: key) else {
            if topology != nil { askForTopology() }
            return completion(.failure(.unreachable))
        }
        send(words, to: node, redirected: 0, completion)
    }

    private func send(_ words: [RESPWord], to node: EngineNode, redirected count: Int, _ completion: @escaping Completion) {
        let isTaken = node.connection?.send(words) { [unowned self] result in
            guard case .success(.error(let error)) = result else { return completion(result) }
            follow(error, words, redirected: count, from: node.address, completion)
        }
        if isTaken != true { completion(.failure(node.isOpen ? .full : .unreachable)) }
    }

    private func follow(
        _ error: EngineError, _ words: [RESPWord], redirected count: Int, from asked: EngineAddress,
        _ completion: @escaping Completion
    ) {
        guard var redirection = error.redirection else {
            if error.code == .readOnly || error.code == .clusterDown || error.code == .masterDown { askForTopology() }
            return completion(.failure(.refused(error)))
        }
        if count >= Self.redirectionLimit { return completion(.failure(.redirectedTooOften)) }
        var target = redirection.node
        if target.host.isEmpty { target.host = asked.host }
        redirection = Redirection(slot: redirection.slot, node: target, isForOneCommand: redirection.isForOneCommand)
        if !redirection.isForOneCommand {
            topology?.assign(redirection.slot, to: target)
            askForTopology()
        }
        // The number of nodes is limited, so that a hostile engine cannot make the proxy connect to any number of addresses.
        guard nodes.count < ClusterTopology.nodeLimit || nodes[target] != nil else { return completion(.failure(.unserved)) }
        let node = node(target)
        guard node.isOpen else {
            node.connect()
            return completion(.failure(.unreachable))
        }
        if redirection.isForOneCommand, node.connection?.send(["ASKING"], { _ in }) != true {
            return completion(.failure(.unreachable))
        }
        send(words, to: node, redirected: count + 1, completion)
    }

    // MARK: Nodes

    private func node(_ address: EngineAddress) -> EngineNode {
        if let known = nodes[address] {
            known.isWanted = true
            return known
        }
        let node = EngineNode(address, of: self, on: loop)
        nodes[address] = node
        return node
    }

    func didOpen(_ node: EngineNode, _ greeting: EngineGreeting) {
        if greeting.isCluster { askForTopology(now: true) } else { topology = nil }
        owner.nodesChanged()
    }

    func didClose(_ node: EngineNode, wasOpen: Bool, because failure: EngineFailure) {
        owner.note(failure, of: node.address)
        if topology != nil { askForTopology() }
        owner.nodesChanged()
    }

    func received(push: [RESPValue]) { owner.received(push: push) }

    /// Called every second or so: closes connections of silent engines, and asks a cluster for its topology if slots are missing.
    func lookAfter() {
        for node in Array(nodes.values) { node.connection?.checkSilence() }
        let isComplete = topology.map { topology in
            topology.servedCount == HashSlot.count && topology.nodes.allSatisfy { nodes[$0]?.isOpen == true }
        }
        if isComplete == false { askForTopology() }
    }

    // MARK: Topology

    private func askForTopology(now isUrgent: Bool = false) {
        if isAskingForTopology { return }
        if !isUrgent, loop.now.milliseconds(since: topologyAskedAt) < Self.topologyPause { return }
        // Any node of the cluster knows the topology. A random one, so that one with an old view does not answer each time.
        let open = nodes.values.filter { $0.isOpen && $0.greeting?.isCluster == true }
        guard let node = open.randomElement(using: &generator) else { return }
        topologyAskedAt = loop.now
        isAskingForTopology = true
        let asked = node.address.host
        let isTaken = node.connection?.send(["CLUSTER", "SLOTS"]) { [unowned self] result in
            isAskingForTopology = false
            guard case .success(let reply) = result, let found = ClusterTopology(reply, asked: asked), found.servedCount > 0
            else { return }
            adopt(found)
        }
        if isTaken != true { isAskingForTopology = false }
    }

    private func adopt(_ found: ClusterTopology) {
        if found == topology { return }
        topology = found
        for address in found.nodes { node(address).connect() }
        // Nodes that are no longer masters are closed, except those of the settings: they know the way back into the cluster.
        for (address, node) in nodes where !found.nodes.contains(address) && !configuration.url.nodes.contains(address) {
            nodes[address] = nil
            node.close()
        }
        owner.nodesChanged()
    }

    // MARK: Status

    /// The masters of a cluster, or the servers of the settings.
    var status: [EngineNodeStatus] {
        let addresses = topology?.nodes ?? configuration.url.nodes
        return addresses.map { address in
            let node = nodes[address]
            return EngineNodeStatus(
                address: address.description, isOpen: node?.isOpen == true, isAnswering: node?.breaker.isClosed ?? false,
                version: node?.greeting.map { "\($0.server) \($0.version)" }, failure: node?.lastFailure?.description)
        }
    }
}

/// One engine, as `larder farm status` shows it.
package struct EngineNodeStatus: Equatable, Sendable {
    package let address: String
    package let isOpen: Bool
    /// Whether its breaker is closed: look-ups are sent to it.
    package let isAnswering: Bool
    package let version: String?
    /// Why the last connection ended; `nil` while it is open.
    package let failure: String?
}
