import { z } from 'zod';
import { apertiumCodes } from './apertium-languages.ts';
import { type CallLimits, callEngine, type EngineNames, joinUrl, statusError } from './http.ts';
import { translateTexts } from './pieces.ts';
import { ProviderError, type TranslationProvider } from './types.ts';

export interface ApertiumOptions {
  /** Address of Apertium's HTTP server, APY; such as `http://127.0.0.1:2737`. */
  readonly url: string;
  /** Milliseconds for one request. */
  readonly timeoutMs: number;
}

/** How long the list of installed pairs is cached. Milliseconds. */
const PAIRS_MAX_AGE_MS = 60_000;

const NAMES: EngineNames = {
  engine: 'Apertium',
  addressVariables: 'APERTIUM_URL',
  keyVariable: 'APERTIUM_URL',
};

const pairsSchema = z.object({
  responseData: z.array(z.object({ sourceLanguage: z.string(), targetLanguage: z.string() })),
});
const translationSchema = z.object({ responseData: z.object({ translatedText: z.string() }) });

/** Apertium, a local rule-based engine, over its HTTP server. */
export function createApertiumProvider({ url, timeoutMs }: ApertiumOptions): TranslationProvider {
  let pairs: { at: number; names: ReadonlySet<string> } | undefined;

  const call = async <Schema extends z.ZodType>(
    path: string,
    init: RequestInit,
    schema: Schema,
    limits: CallLimits,
  ): Promise<z.output<Schema>> => {
    const response = await callEngine(NAMES, joinUrl(url, path), init, limits);
    if (response.status !== 200) throw statusError(NAMES, response);
    const parsed = schema.safeParse(parseJson(response.body));
    if (parsed.success) return parsed.data;
    throw new ProviderError(
      'retryable',
      'Apertium sent an unexpected response. If this lasts, check APERTIUM_URL.',
    );
  };

  const installedPairs = async (limits: CallLimits): Promise<ReadonlySet<string>> => {
    if (pairs === undefined || Date.now() - pairs.at > PAIRS_MAX_AGE_MS) {
      const { responseData } = await call('listPairs', {}, pairsSchema, limits);
      const names = responseData.map((pair) => `${pair.sourceLanguage}|${pair.targetLanguage}`);
      pairs = { at: Date.now(), names: new Set(names) };
    }
    return pairs.names;
  };

  return {
    name: 'apertium',
    repairs: false,
    async translate(request) {
      const { sourceLanguage, targetLanguage, signal } = request;
      const limits = { timeoutMs, signal };
      const pair = choosePair(await installedPairs(limits), sourceLanguage, targetLanguage);
      const translateText = async (q: string): Promise<string> => {
        const body = new URLSearchParams({ langpair: pair, format: 'html', markUnknown: 'no', q });
        const { responseData } = await call('translate', { method: 'POST', body }, translationSchema, limits);
        return responseData.translatedText;
      };
      // One text per call: the engine takes no lists, and texts must not be mixed.
      return translateTexts(request, async (texts) => {
        const translations: string[] = [];
        for (const text of texts) translations.push(await translateText(text));
        return translations;
      });
    },
  };
}

/** @throws {ProviderError} fatal, naming the installed pairs, when none fits */
function choosePair(installed: ReadonlySet<string>, source: string, target: string): string {
  for (const from of apertiumCodes(source)) {
    for (const to of apertiumCodes(target)) {
      if (installed.has(`${from}|${to}`)) return `${from}|${to}`;
    }
  }
  const names = [...installed].sort().slice(0, 40).join(', ').replaceAll('|', ' → ');
  throw new ProviderError(
    'fatal',
    `Apertium does not translate from ${source} to ${target}. Installed pairs: ${names === '' ? 'none' : names}.`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
