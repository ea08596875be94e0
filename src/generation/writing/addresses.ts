/** Finds addresses in a model's text. They are not allowed: a model cannot know where they lead. */
import { findAddresses } from '../../document/text/urls.ts';

/** An address with a scheme; browsers accept some without slashes. */
const SCHEME =
  /(?<![\p{L}\p{N}])(?:[a-z][a-z0-9+.-]{1,20}:\/\/|(?:mailto|javascript|data|tel|sms|geo|magnet):(?=\S))/iu;
/** An address of a host without its scheme: `//host/path`. */
const WITHOUT_SCHEME = /(?<![\p{L}\p{N}:/])\/\/[\p{L}\p{N}-]+\.[\p{L}\p{N}]/u;

/** Top-level domains that file names, properties and packages in prose do not end with. */
const ENDINGS =
  'com|net|org|edu|gov|info|biz|io|dev|app|ai|co|xyz|site|shop|blog|online|example|test|invalid|tv|eu|uk|de|fr|es|nl|ca|au|nz|jp|cn|kr|br|mx|ar|ru|ua|ch|se|dk|fi|pt|cz|hu|ro|gr|tr|ie|il|za|hk|tw|sg|vn|рф';
/** The same inside inline code, which is full of names with dots. */
const ENDINGS_IN_CODE = 'com|org|edu|gov';
const LABEL = '[\\p{L}\\p{N}](?:[\\p{L}\\p{N}-]{0,61}[\\p{L}\\p{N}])?';
const domain = (endings: string): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}_@.\\-])(?:${LABEL}\\.)+(?:(?:${endings})(?![\\p{L}\\p{N}_\\-(])(?!\\.\\p{L})|[a-z]{2,10}(?=\\/[\\p{L}\\p{N}_?#-]))`,
    'giu',
  );
const DOMAIN = domain(ENDINGS);
const DOMAIN_IN_CODE = domain(ENDINGS_IN_CODE);
/** Names that look like hosts but are not. */
const NO_HOST = /^(?:asp|ado|vb|ml)\.net$|^(?:node|next|nuxt|vue|three|express|d3|react|ember)\.js/i;

/** Host names in the customer's texts, in lower case: an article may repeat them as text. */
export const hostNames = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => text.toLowerCase().match(DOMAIN) ?? []));

/**
 * The first address in a text, or null.
 * @param code true for inline code
 * @param allowed host names that are no defect
 */
export function findAddress(text: string, code: boolean, allowed: ReadonlySet<string>): string | null {
  const scheme = SCHEME.exec(text) ?? WITHOUT_SCHEME.exec(text);
  if (scheme !== null) return text.slice(scheme.index).split(/\s/u, 1).join('');
  for (const { start, end } of findAddresses(text)) {
    const literal = text.slice(start, end);
    if (/^www\.|@/i.test(literal)) return literal;
  }
  for (const [host] of text.matchAll(code ? DOMAIN_IN_CODE : DOMAIN)) {
    if (!NO_HOST.test(host) && !allowed.has(host.toLowerCase())) return host;
  }
  return null;
}
