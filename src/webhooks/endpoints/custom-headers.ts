import { z } from 'zod';

const MAX_HEADERS = 10;
const NAME = /^[a-z0-9][a-z0-9._-]*$/;
const MAX_NAME = 64;
const VALUE = /^[\x20-\x7e]*$/;
const MAX_VALUE = 1_024;

/** Headers that make or frame the request, that sign it, or that proxies and tracing go by. */
const FORBIDDEN = new Set([
  ...['host', 'connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'],
  ...['upgrade', 'expect', 'traceparent', 'tracestate'],
]);
const FORBIDDEN_PREFIXES = ['content-', 'x-service-', 'webhook-', 'x-forwarded-'];

const isForbidden = (name: string): boolean =>
  FORBIDDEN.has(name) || FORBIDDEN_PREFIXES.some((prefix) => name.startsWith(prefix));

/** Custom headers of an endpoint, each under its lower-case name (contract.md W66). */
export const customHeaders = z
  .record(z.string().min(1).max(MAX_NAME), z.string().min(1).max(MAX_VALUE))
  .superRefine((headers, context) => {
    const names = new Set<string>();
    const refuse = (name: string, message: string) =>
      context.addIssue({ code: 'custom', path: [name], message });
    if (Object.keys(headers).length > MAX_HEADERS) {
      context.addIssue({ code: 'custom', message: `Expected at most ${MAX_HEADERS} headers.` });
      return;
    }
    for (const [given, value] of Object.entries(headers)) {
      const name = given.toLowerCase();
      if (!NAME.test(name))
        refuse(given, 'Expected a header name of letters, digits, points, hyphens and underscores.');
      else if (isForbidden(name)) refuse(given, 'This header cannot be set.');
      else if (names.has(name)) refuse(given, 'The header is there twice.');
      if (!VALUE.test(value) || value !== value.trim()) {
        refuse(given, 'Expected printable ASCII characters without spaces around them.');
      }
      names.add(name);
    }
  })
  .transform((headers) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  )
  .meta({
    maxProperties: MAX_HEADERS,
    description:
      'At most 10, sent with each request to the registered origin, and to no other that a redirect leads to. Their values are ' +
      'encrypted and never shown. Left out, they stay as they are. Not host, content-*, connection, keep-alive, ' +
      'proxy-connection, te, trailer, transfer-encoding, upgrade, expect, traceparent, tracestate, x-service-*, webhook-*, ' +
      'x-forwarded-*.',
    examples: [{ authorization: 'Bearer of-the-receiver' }],
  });
