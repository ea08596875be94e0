import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Context } from 'hono';
import { notFound } from '../errors.ts';
import { answer, answerJson, type Env, type Exchange } from './exchange.ts';
import { renderMarkdownPage } from './markdown-page.ts';
import { ERROR_CODES, problemSlug } from './problems.ts';
import { checkReadiness } from './readiness.ts';
import { renderReference } from './reference-page.ts';

export interface Page {
  readonly path: string;
  readonly serve: (exchange: Exchange, c: Context<Env>) => Promise<Response>;
  /** Logged at debug level only. */
  readonly quiet?: boolean;
}

const ERROR_PAGES = fileURLToPath(new URL('../../docs/errors/', import.meta.url));

/** Pages are plain documents: no script runs on them, and all they need is in them. */
const HTML = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'Cache-Control': 'public, max-age=300',
};

/** What the service answers without a key: its health, its description, and its reference pages. */
export function createPages({
  readiness,
  document,
}: {
  readiness: Readonly<Record<string, () => Promise<void>>>;
  document: () => object;
}): readonly Page[] {
  const slugs = new Set(ERROR_CODES.map(problemSlug));
  let reference: string | undefined;
  return [
    { path: '/healthz', quiet: true, serve: async (exchange) => answerJson(exchange, 200, { status: 'ok' }) },
    {
      path: '/readyz',
      quiet: true,
      serve: async (exchange) => {
        const { ready, checks } = await checkReadiness(readiness);
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
        reference ??= renderReference(document());
        return answer(exchange, 200, reference, HTML);
      },
    },
    {
      path: '/docs/errors/{code}',
      serve: async (exchange, c) => {
        const slug = c.req.param('code') ?? '';
        if (!slugs.has(slug)) throw notFound('error page');
        const markdown = readFileSync(`${ERROR_PAGES}${slug}.md`, 'utf8');
        return answer(exchange, 200, renderMarkdownPage(markdown), HTML);
      },
    },
  ];
}
