import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import type { AllowedNetworks, Network } from '../networks.ts';
import { isRefusedPort } from './refused-ports.ts';

export type AddressClass = 'allowed' | 'blocked';

export type ParsedReceiverUrl = { ok: true; url: URL } | { ok: false; reason: string };

/** Constant by design: it names no address, so a receiver's owner can't map the network behind the service. */
export const BLOCKED_ADDRESS_MESSAGE = 'The URL does not point to a public address.';

const MAX_URL_LENGTH = 2_048;
const MAX_HOST_LENGTH = 253;
const MAX_LABEL_LENGTH = 63;

/** Public unicast space that is not the internet: the Azure host agent (metadata, DNS, health). */
const INTERNAL_IN_PUBLIC_SPACE = new Set(['168.63.129.16']);

const GLOBAL_UNICAST: Network = ipaddr.parseCIDR('2000::/3');
const NAT64: Network = ipaddr.parseCIDR('64:ff9b::/96');
/** The interface identifier of ISATAP (RFC 5214) is 0000:5efe or, with its u and g bits, up to 0300:5efe. */
const ISATAP_MARK = 0x5efe;
const ISATAP_FLAG_BITS = 0x0300;

/**
 * Classifies one address in text form: allowed when it is public unicast or in one of `allowedNetworks`. Everything but
 * a plain IPv4 or IPv6 address, zone ids included, is blocked.
 */
export function classifyAddress(ip: string, allowedNetworks: AllowedNetworks = []): AddressClass {
  // ipaddr.js also reads the short, octal and hexadecimal spellings of IPv4, which are never dialled.
  if (isIP(ip) === 0 || ip.includes('%')) return 'blocked';
  const address = ipaddr.parse(ip);
  if (allowedNetworks.some((network) => contains(network, address))) return 'allowed';
  const isPublic = address instanceof ipaddr.IPv4 ? isPublicIpv4(address) : isPublicIpv6(address);
  return isPublic ? 'allowed' : 'blocked';
}

function contains(network: Network, address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return network[0].kind() === address.kind() && address.match(network);
}

function isPublicIpv4(address: ipaddr.IPv4): boolean {
  return address.range() === 'unicast' && !INTERNAL_IN_PUBLIC_SPACE.has(address.toString());
}

function isPublicIpv6(address: ipaddr.IPv6): boolean {
  if (address.match(NAT64)) {
    // RFC 6052: an IPv6-only network reaches public IPv4 receivers this way.
    return isPublicIpv4(new ipaddr.IPv4(address.toByteArray().slice(12)));
  }
  // Default deny: mapped, compatible and translated IPv4, and all unassigned space, lie outside 2000::/3.
  return address.match(GLOBAL_UNICAST) && address.range() === 'unicast' && !isIsatap(address);
}

function isIsatap(address: ipaddr.IPv6): boolean {
  const [, , , , flags = 0, mark = 0] = address.parts;
  return mark === ISATAP_MARK && (flags & ~ISATAP_FLAG_BITS) === 0;
}

/**
 * Checks the form of a receiver's URL, its port included, and normalises it by the WHATWG rules, which also fold every
 * numeric spelling of IPv4. Its addresses are checked apart: see `hostOf` and `fixedAddresses`. The reason of a refusal
 * may be shown.
 */
export function parseReceiverUrl(text: string): ParsedReceiverUrl {
  if (text.length > MAX_URL_LENGTH) return tooLong();
  const url = URL.parse(text);
  if (url === null) return { ok: false, reason: 'The URL is not valid.' };
  if (url.href.length > MAX_URL_LENGTH) return tooLong();
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return { ok: false, reason: 'The URL must start with http:// or https://.' };
  }
  if (url.username !== '' || url.password !== '') {
    return { ok: false, reason: 'The URL must not contain a user name or password.' };
  }
  if (url.port === '0') return { ok: false, reason: 'The port of the URL is not valid.' };
  if (isRefusedPort(url.port))
    return { ok: false, reason: 'The port of the URL is reserved for another service.' };
  if (url.hostname.endsWith('.')) url.hostname = url.hostname.slice(0, -1);
  if (!isHost(hostOf(url))) return { ok: false, reason: 'The host of the URL is not valid.' };
  return { ok: true, url };
}

function tooLong(): ParsedReceiverUrl {
  return { ok: false, reason: `The URL must not be longer than ${MAX_URL_LENGTH} characters.` };
}

function isHost(host: string): boolean {
  if (isIP(host) !== 0) return true;
  const labels = host.split('.');
  return host.length <= MAX_HOST_LENGTH && labels.every(isLabel);
}

function isLabel(label: string): boolean {
  return label.length > 0 && label.length <= MAX_LABEL_LENGTH;
}

/** The host of a checked URL as it is resolved or dialled: without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** The addresses of a host that needs no DNS: its own if it is one, loopback for localhost (RFC 6761). */
export function fixedAddresses(host: string): readonly string[] | null {
  if (isIP(host) !== 0) return [host];
  if (host === 'localhost' || host.endsWith('.localhost')) return ['127.0.0.1', '::1'];
  return null;
}
