extension AddressRange {
    /// Addresses that no request should reach: link-local addresses, and the services by which clouds give machines their metadata and
    /// credentials (T03 in docs/threats.md).
    package static let metadataServices: [AddressRange] = [
        // 169.254.169.254 is the service of most clouds, 169.254.170.2 of Amazon ECS, and 169.254.42.42 of Scaleway.
        "169.254.0.0/16", "fe80::/10",
        // These are services of Amazon: EC2 (::254; EC2 User Guide, "Access instance metadata") and EKS Pod Identity (::23; EKS User
        // Guide, "Pod Identity").
        "fd00:ec2::/32",
        // This is the service of Google Compute Engine for machines that have only IPv6 ("View and query VM metadata").
        "fd20:ce::254",
        // This is the WireServer of Microsoft Azure ("What is IP address 168.63.129.16?").
        "168.63.129.16",
        // These are services of Alibaba Cloud ECS. The first address is in "Instance metadata", the second in cloud-init's AliYun data
        // source.
        "100.100.100.200", "fd00:100::100:200",
        // This is the service of Oracle Cloud Infrastructure. The address is in "Getting Instance Metadata", and in the signer of
        // instance principals in Oracle's SDK.
        "fd00:c1::a9fe:a9fe",
        // These are the services of Scaleway and Akamai (Linode). The addresses are in cloud-init's data sources with these names.
        "fd00:42::42", "fd00:a9fe:a9fe::1",
    ].compactMap { AddressRange($0) }
}
