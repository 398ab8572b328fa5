import ipaddr from "ipaddr.js";

/** An address, and how many of its first bits count. */
type Network = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Whether an address is in one of these networks, which are addresses or CIDR ranges. IPv4 inside IPv6 counts as IPv4. */
export function isWithin(address: string, networks: readonly string[]): boolean {
  return ipaddr.isValid(address) && isCovered(hostOf(ipaddr.process(address)), networks);
}

/** Whether all of a network is in one of the others. */
export function isPartOf(network: string, others: readonly string[]): boolean {
  return isCovered(read(network), others);
}

function isCovered([address, bits]: Network, networks: readonly string[]): boolean {
  return networks.some((each) => {
    const [range, prefix] = read(each);
    return range.kind() === address.kind() && prefix <= bits && address.match(range, prefix);
  });
}

function read(network: string): Network {
  return network.includes("/") ? ipaddr.parseCIDR(network) : hostOf(ipaddr.parse(network));
}

function hostOf(address: Network[0]): Network {
  return [address, address.kind() === "ipv4" ? 32 : 128];
}
