import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context } from 'hono';
import { type ErrorCode, notFound } from '../errors.ts';
import { type Env, type Exchange, respond } from '../http/exchange.ts';
import type { Page } from '../http/pages.ts';
import { problemExample } from '../http/problem-examples.ts';
import { ERROR_CODES, PROBLEMS, problemSlug } from '../http/problems.ts';
import { renderMarkdownPage, renderMarkdownPart } from './markdown-page.ts';
import type { ErrorPage } from './operation.ts';
import { renderReference } from './page.ts';
import { REFERENCE_SCRIPT } from './script.ts';
import { jsonBlock } from './text.ts';

const ERROR_PAGES = fileURLToPath(new URL('../../docs/errors/', import.meta.url));

const scriptHash = createHash('sha256').update(REFERENCE_SCRIPT).digest('base64');

const CACHED = 'public, max-age=300';

/** Everything is inline, and nothing else can run or be loaded. */
const HTML = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${scriptHash}'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cache-Control': CACHED,
};

/** Bytes that all clients share, with their tag. */
interface Shared {
  readonly bytes: Buffer<ArrayBuffer>;
  readonly tag: string;
}
const share = (bytes: Buffer<ArrayBuffer>): Shared => ({
  bytes,
  tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
});

const compress = promisify(gzip);

/** A text rendered and compressed once, on first use. */
function once(render: () => string): () => Promise<{ readonly plain: Shared; readonly gzip: Shared }> {
  const make = async () => {
    const bytes = Buffer.from(render());
    return { plain: share(bytes), gzip: share(await compress(bytes, { level: 9 })) };
  };
  let made: ReturnType<typeof make> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** True when the Accept-Encoding header takes gzip. */
const takesGzip = (header: string | undefined): boolean =>
  /(?:^|,)\s*(?:x-)?gzip\s*(?:;\s*q=(?!0(?:\.0*)?\s*(?:,|$))|,|$)/i.test(header ?? '');

/** Responds with a text that is the same for every client, or with 304 to a client that has it. */
function servePrepared(
  prepared: ReturnType<typeof once>,
  headers: Readonly<Record<string, string>>,
): (exchange: Exchange, c: Context<Env>) => Promise<Response> {
  return async (exchange, c) => {
    const forms = await prepared();
    const isZipped = takesGzip(c.req.header('accept-encoding'));
    const { bytes, tag } = isZipped ? forms.gzip : forms.plain;
    const known = c.req.header('if-none-match')?.split(',') ?? [];
    const isKnown = known.some((one) => one.trim().replace(/^W\//, '') === tag);
    return respond(exchange, isKnown ? 304 : 200, isKnown ? null : bytes, {
      ...headers,
      ETag: tag,
      Vary: 'Accept-Encoding',
      ...(isZipped && !isKnown ? { 'Content-Encoding': 'gzip' } : {}),
    });
  };
}

const readErrorPage = (slug: string): string => readFileSync(`${ERROR_PAGES}${slug}.md`, 'utf8');

/** The page of each error code, as the reference shows it. */
const errorPages = (): ErrorPage[] =>
  ERROR_CODES.map((code) => {
    const example = problemExample(code);
    return {
      code,
      ...PROBLEMS[code],
      path: example.type,
      html: renderMarkdownPart(readErrorPage(problemSlug(code))),
      example,
    };
  });

/** The service's description and its reference pages, without a key. */
export function createReferencePages(document: () => object): readonly Page[] {
  const pageOf = (code: ErrorCode): string => {
    const example = jsonBlock(`Example of ${code}`, problemExample(code));
    return renderMarkdownPage(readErrorPage(problemSlug(code)), `<h2>Example</h2>${example}`);
  };
  const serveErrorPage = new Map(
    ERROR_CODES.map((code) => [
      problemSlug(code),
      servePrepared(
        once(() => pageOf(code)),
        HTML,
      ),
    ]),
  );
  const serveDocument = servePrepared(
    once(() => JSON.stringify(document())),
    { 'Content-Type': 'application/json', 'Cache-Control': CACHED },
  );
  const serveReference = servePrepared(
    once(() => renderReference(document(), errorPages())),
    HTML,
  );
  return [
    {
      path: '/openapi.json',
      serve: async (exchange, c) => serveDocument(exchange, c),
    },
    {
      // For anyone who opens the service's address in a browser.
      path: '/',
      serve: async (exchange) => respond(exchange, 302, null, { Location: '/docs' }),
    },
    {
      path: '/docs',
      serve: async (exchange, c) => serveReference(exchange, c),
    },
    {
      path: '/docs/errors/{code}',
      serve: async (exchange, c) => {
        const serve = serveErrorPage.get(c.req.param('code') ?? '');
        if (serve === undefined) throw notFound('error page');
        return serve(exchange, c);
      },
    },
  ];
}
