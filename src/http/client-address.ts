import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';

type Address = ipaddr.IPv4 | ipaddr.IPv6;

const parse = (text: string): Address | null => (ipaddr.isValid(text) ? ipaddr.process(text) : null);

/** One subscriber usually holds a whole /64 of IPv6, so that counts as one client. */
function clientKey(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString();
  const network = (address as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
}

/** Strips what proxies may add: the brackets of IPv6, a port. */
const bare = (text: string): string =>
  /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;

function createIsTrusted(trustedProxies: readonly string[]): (address: Address) => boolean {
  const ranges = trustedProxies.map((text): [Address, number] => {
    if (text.includes('/')) return ipaddr.parseCIDR(text);
    const address = ipaddr.process(text);
    return [address, address.kind() === 'ipv4' ? 32 : 128];
  });
  return (address) =>
    ranges.some(([network, bits]) => network.kind() === address.kind() && address.match(network, bits));
}

/** Whether a socket's peer is a trusted proxy. @param trustedProxies addresses or CIDR ranges */
export function createTrust(trustedProxies: readonly string[]): (peer: string | undefined) => boolean {
  const isTrusted = createIsTrusted(trustedProxies);
  return (peer) => {
    const address = trustedProxies.length === 0 ? null : parse(peer ?? '');
    return address !== null && isTrusted(address);
  };
}

/**
 * The client of a request: the socket's peer or, when that is a trusted proxy, the last address of X-Forwarded-For that
 * is not one. Anyone can send that header, so it counts from trusted proxies only.
 * @param trustedProxies addresses or CIDR ranges
 * @param onUntrusted called once: for the first peer that sends the header and is not trusted
 */
export function createClientAddress(
  trustedProxies: readonly string[],
  onUntrusted: (peer: string) => void = () => undefined,
): (peer: string | undefined, forwardedFor: string | null) => string {
  const isTrusted = createIsTrusted(trustedProxies);

  let hasWarned = false;

  return (peer, forwardedFor) => {
    // Fast path: the text of a lone IPv4 address is its key.
    if (forwardedFor === null && peer !== undefined && isIPv4(peer)) return peer;
    let address = parse(peer ?? '');
    if (address === null) return 'unknown';
    if (forwardedFor !== null && !hasWarned && !isTrusted(address)) {
      hasWarned = true;
      onUntrusted(address.toString());
    }
    const hops = forwardedFor === null ? [] : forwardedFor.split(',').map((hop) => bare(hop.trim()));
    for (let hop = hops.pop(); hop !== undefined && isTrusted(address); hop = hops.pop()) {
      const next = parse(hop);
      if (next === null) break;
      address = next;
    }
    return clientKey(address);
  };
}
