import { generateKeyPairSync, sign } from 'node:crypto';

/** DER identifiers (X.690), as far as a certificate needs them. */
const TAG = { integer: 2, bits: 3, octets: 4, oid: 6, utf8: 12, utcTime: 23, sequence: 48, set: 49 } as const;
const DNS_NAME = 0x82;
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const OID = { ecdsaWithSha256: '2a8648ce3d040302', commonName: '550403', subjectAltName: '551d11' } as const;

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const length = content.length;
  const head =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

function oid(hex: string): Buffer {
  return der(TAG.oid, Buffer.from(hex, 'hex'));
}

function utcTime(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\..*/g, '');
  return der(TAG.utcTime, Buffer.from(`${digits.slice(2)}Z`));
}

/** Makes a self-signed certificate (RFC 5280) for one host, valid for a day around now, and its key, in PEM. */
export function createCertificate(host: string, now = new Date()): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(TAG.sequence, oid(OID.ecdsaWithSha256));
  const commonName = der(TAG.sequence, oid(OID.commonName), der(TAG.utf8, Buffer.from(host)));
  const name = der(TAG.sequence, der(TAG.set, commonName));
  const halfDayMs = 12 * 60 * 60 * 1_000;
  const alternative = der(TAG.sequence, der(DNS_NAME, Buffer.from(host)));
  const toBeSigned = der(
    TAG.sequence,
    der(VERSION, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.from([1])),
    algorithm,
    name,
    der(
      TAG.sequence,
      utcTime(new Date(now.getTime() - halfDayMs)),
      utcTime(new Date(now.getTime() + halfDayMs)),
    ),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(
      EXTENSIONS,
      der(TAG.sequence, der(TAG.sequence, oid(OID.subjectAltName), der(TAG.octets, alternative))),
    ),
  );
  const signature = der(TAG.bits, Buffer.from([0]), sign('sha256', toBeSigned, privateKey));
  const base64 = der(TAG.sequence, toBeSigned, algorithm, signature).toString('base64');
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${base64.replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}
