import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Context } from 'hono';
import { notFound } from '../errors.ts';
import { answer, answerJson, type Env, type Exchange } from './exchange.ts';
import { renderMarkdownPage, renderMarkdownPart } from './markdown-page.ts';
import { problemExample } from './problem-examples.ts';
import { ERROR_CODES, PROBLEMS, problemSlug } from './problems.ts';
import type { Readiness } from './readiness.ts';
import type { ErrorPage } from './reference/operation.ts';
import { renderReference } from './reference/page.ts';
import { REFERENCE_SCRIPT } from './reference/script.ts';
import { jsonBlock } from './reference/text.ts';

export interface Page {
  readonly path: string;
  readonly serve: (exchange: Exchange, c: Context<Env>) => Promise<Response>;
  /** Logged at debug level only. */
  readonly quiet?: boolean;
}

const ERROR_PAGES = fileURLToPath(new URL('../../docs/errors/', import.meta.url));

const scriptHash = createHash('sha256').update(REFERENCE_SCRIPT).digest('base64');

/** All that a page needs is in it, and nothing else can run or be loaded. */
const HTML = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${scriptHash}'; img-src data:; ` +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cache-Control': 'public, max-age=300',
};

const readErrorPage = (slug: string): string => readFileSync(`${ERROR_PAGES}${slug}.md`, 'utf8');

/** The page of each error code, as the reference shows it. */
export const errorPages = (): ErrorPage[] =>
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

/** What the service answers without a key: its health, its description, and its reference pages. */
export function createPages({
  readiness,
  document,
}: {
  readiness: () => Promise<Readiness>;
  document: () => object;
}): readonly Page[] {
  const codes = new Map(ERROR_CODES.map((code) => [problemSlug(code), code]));
  let reference: string | undefined;
  return [
    { path: '/healthz', quiet: true, serve: async (exchange) => answerJson(exchange, 200, { status: 'ok' }) },
    {
      path: '/readyz',
      quiet: true,
      serve: async (exchange) => {
        const { ready, checks } = await readiness();
        return answerJson(exchange, ready ? 200 : 503, { status: ready ? 'ready' : 'not ready', checks });
      },
    },
    {
      path: '/openapi.json',
      serve: async (exchange) =>
        answerJson(exchange, 200, document(), { 'Cache-Control': 'public, max-age=300' }),
    },
    {
      path: '/docs',
      serve: async (exchange) => {
        reference ??= renderReference(document(), errorPages());
        return answer(exchange, 200, reference, HTML);
      },
    },
    {
      path: '/docs/errors/{code}',
      serve: async (exchange, c) => {
        const slug = c.req.param('code') ?? '';
        const code = codes.get(slug);
        if (code === undefined) throw notFound('error page');
        const example = jsonBlock(`Example of ${code}`, problemExample(code));
        return answer(
          exchange,
          200,
          renderMarkdownPage(readErrorPage(slug), `<h2>Example</h2>${example}`),
          HTML,
        );
      },
    },
  ];
}
