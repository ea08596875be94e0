import { z } from 'zod';
import { type EngineNames, joinUrl, noResponse, readBounded, statusError } from '../../providers/http.ts';
import { ProviderError } from '../../providers/types.ts';
import { shortLine } from '../reading/plain-text.ts';
import {
  MAX_QUERY,
  MAX_RESULTS,
  MAX_SNIPPET,
  MAX_TITLE,
  type SearchEngine,
  type SearchResult,
} from './engine.ts';

export interface SearxngOptions {
  /** Such as `http://searxng:8080`. */
  readonly baseUrl: string;
  /** Milliseconds for one search. */
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 15_000;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_URL = 2_048;

const NAMES: EngineNames = {
  engine: 'The search server',
  addressVariables: 'SEARCH_BASE_URL',
  keyVariable: 'SEARCH_BASE_URL',
};
const JSON_OFF =
  'The search server refuses JSON (HTTP 403). Add json to search.formats in its settings.yml, and turn its limiter off for this service.';
const unreadable = (): ProviderError =>
  new ProviderError(
    'retryable',
    'The search server sent an unexpected response. If this lasts, check SEARCH_BASE_URL.',
  );

const text = z.string().nullish();
const responseSchema = z.object({
  results: z.array(z.object({ url: z.string(), title: text, content: text, publishedDate: text })),
  unresponsive_engines: z.array(z.unknown()).optional(),
});

function dateOf(given: string | null | undefined): Date | null {
  const date = new Date((given ?? '').slice(0, 40));
  return Number.isNaN(date.getTime()) ? null : date;
}

/** SearXNG's JSON API (contract.md N1 and N2). */
export function createSearxng({ baseUrl, timeoutMs = TIMEOUT_MS }: SearxngOptions): SearchEngine {
  const request = async (query: string, signal: AbortSignal): Promise<string> => {
    const url = joinUrl(baseUrl, 'search');
    url.search = new URLSearchParams({
      q: shortLine(query, MAX_QUERY),
      format: 'json',
      safesearch: '1',
    }).toString();
    const deadline = AbortSignal.timeout(timeoutMs);
    try {
      const response = await fetch(url, {
        headers: { accept: 'application/json' },
        // It is one address of the operator's: wherever it might lead is not.
        redirect: 'error',
        signal: AbortSignal.any([signal, deadline]),
      });
      if (response.status === 403) throw new ProviderError('misconfigured', JSON_OFF);
      if (response.status !== 200) throw statusError(NAMES, response);
      return new TextDecoder().decode(await readBounded(response, MAX_BYTES, unreadable));
    } catch (error) {
      if (error instanceof ProviderError) throw error;
      throw noResponse(NAMES, error, { timeoutMs, signal, deadline });
    }
  };

  return {
    name: 'searxng',
    async search(query, signal) {
      signal.throwIfAborted();
      const parsed = responseSchema.safeParse(parseJson(await request(query, signal)));
      if (!parsed.success) throw unreadable();
      const { results, unresponsive_engines: away = [] } = parsed.data;
      // Engines that did not respond, and nothing from the others: nobody has looked.
      if (results.length === 0 && away.length > 0) {
        throw new ProviderError('retryable', 'None of the engines of the search server responded.');
      }
      return results.flatMap(toResult).slice(0, MAX_RESULTS);
    },
  };
}

type Given = z.output<typeof responseSchema>['results'][number];

function toResult({ url, title, content, publishedDate }: Given): SearchResult[] {
  const parsed = url.length > MAX_URL ? null : URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return [];
  return [
    {
      url: parsed.href,
      title: shortLine(title, MAX_TITLE),
      snippet: shortLine(content, MAX_SNIPPET),
      publishedAt: dateOf(publishedDate),
    },
  ];
}

function parseJson(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}
