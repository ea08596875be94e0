import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A network in ipaddr.js's form: address and prefix length. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Networks allowed besides the public ones (WEBHOOK_ALLOWED_NETWORKS, IMAGE_ALLOWED_NETWORKS, RESEARCH_ALLOWED_NETWORKS). */
export type AllowedNetworks = readonly Network[];

/**
 * Parses such a variable: networks in CIDR notation, separated by commas or spaces, or a list of them.
 * @throws Error that names the first entry which is not a network.
 */
export function parseNetworks(cidrs: string | readonly string[]): AllowedNetworks {
  const entries = typeof cidrs === 'string' ? cidrs.split(/[\s,]+/) : cidrs.map((cidr) => cidr.trim());
  return entries.filter((entry) => entry !== '').map(parseNetwork);
}

function parseNetwork(cidr: string): Network {
  const address = cidr.slice(0, Math.max(0, cidr.indexOf('/')));
  if (isIP(address) === 0 || address.includes('%') || !ipaddr.isValidCIDR(cidr)) {
    throw new Error(`"${cidr}" is not a network in CIDR notation, such as 10.0.0.0/8 or fd00::/8`);
  }
  return ipaddr.parseCIDR(cidr);
}
