import { z } from 'zod';
import type { TextRange } from '../document/text/literals.ts';
import { decodeReferences } from '../document/text/references.ts';
import { indexRanges } from '../document/text/term-index.ts';
import { addressOf, formalityOf } from '../document/translation/style-sheet.ts';
import { serializeTags } from '../document/translation/tags.ts';
import { type CallLimits, callEngine, type EngineNames, joinUrl, statusError } from './http.ts';
import { translateTexts } from './pieces.ts';
import {
  type GlossaryTerm,
  ProviderError,
  type TranslationProvider,
  type TranslationRequest,
} from './types.ts';

export interface DeepLOptions {
  readonly apiKey: string;
  /** Overrides the address that belongs to the key. */
  readonly serverUrl?: string | undefined;
  /** Milliseconds for one request. */
  readonly timeoutMs: number;
}

/** DeepL's bounds of one request. */
const MAX_TEXTS = 50;
const MAX_BYTES = 128 * 1024;
/** Bytes of a request reserved for its other fields. */
const ENVELOPE_BYTES = 6 * 1024;

const NAMES: EngineNames = {
  engine: 'DeepL',
  addressVariables: 'DEEPL_SERVER_URL',
  keyVariable: 'DEEPL_API_KEY',
};

const responseSchema = z.object({ translations: z.array(z.object({ text: z.string() })) });

/**
 * DeepL with strict XML tag handling. It does not use the vendor's client, which can neither be aborted nor expose
 * Retry-After.
 */
export function createDeepLProvider(options: DeepLOptions): TranslationProvider {
  const { apiKey, timeoutMs } = options;
  const host = apiKey.endsWith(':fx') ? 'https://api-free.deepl.com' : 'https://api.deepl.com';
  const url = joinUrl(options.serverUrl ?? host, 'v2/translate');
  return {
    name: 'deepl',
    repairs: false,
    async translate(request) {
      const { sourceLanguage, targetLanguage, signal } = request;
      const options = {
        source_lang: sourceCode(sourceLanguage),
        target_lang: targetCode(targetLanguage),
        ...contextOf(request),
      };
      const send = (texts: readonly string[]) =>
        requestTranslations(url, apiKey, { text: texts, ...options }, { timeoutMs, signal });
      const names = request.context?.glossary.filter(({ target }) => target === null) ?? [];
      const protect = protectorOf(names);
      return translateTexts(request, async (texts) => {
        const translations: string[] = [];
        for (const part of partition(texts.map(protect))) translations.push(...(await send(part)));
        return translations.map(unprotect);
      });
    },
  };
}

/**
 * Returns what wraps names that stay as they are in `x` tags, whose content DeepL keeps (contract.md V19). These have no
 * id, unlike the tags of the text.
 */
function protectorOf(names: readonly GlossaryTerm[]): (markup: string) => string {
  if (names.length === 0) return (markup) => markup;
  const rangesIn = indexRanges(names);
  return (markup) =>
    markup
      .split(/(<[^<>]*>)/)
      .map((part) =>
        part.startsWith('<') ? part : protectIn(decodeReferences(part).normalize('NFC'), rangesIn),
      )
      .join('');
}

function protectIn(text: string, rangesIn: (text: string) => readonly TextRange[]): string {
  let wrapped = '';
  let at = 0;
  for (const { start, end } of rangesIn(text)) {
    wrapped += `${serializeTags([text.slice(at, start)])}<x>${serializeTags([text.slice(start, end)])}</x>`;
    at = end;
  }
  return wrapped + serializeTags([text.slice(at)]);
}

const unprotect = (markup: string): string => markup.replace(/<x>([^<>]*)<\/x>/g, '$1');

/** Context, neither translated nor billed, and formality, which languages without forms of address ignore. */
function contextOf({ context, around }: TranslationRequest): Pick<Body, 'context' | 'formality'> {
  const near = [context?.title, around?.before, around?.after].filter((text) => text).join('\n');
  const formality = context === undefined ? null : formalityOf(addressOf(context));
  return {
    ...(near === '' ? {} : { context: near }),
    ...(formality === null ? {} : { formality: formality === 'formal' ? 'prefer_more' : 'prefer_less' }),
  };
}

interface Body {
  readonly text: readonly string[];
  readonly source_lang: string;
  readonly target_lang: string;
  readonly context?: string;
  readonly formality?: 'prefer_more' | 'prefer_less';
}

async function requestTranslations(
  url: URL,
  apiKey: string,
  body: Body,
  limits: CallLimits,
): Promise<string[]> {
  const response = await callEngine(
    NAMES,
    url,
    {
      method: 'POST',
      headers: { authorization: `DeepL-Auth-Key ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...body,
        tag_handling: 'xml',
        tag_handling_version: 'v2',
        // Paired tags occur inside sentences; splitting and layout are already settled.
        outline_detection: false,
        non_splitting_tags: ['a', 'b', 'i', 'x'],
        ignore_tags: ['x'],
        preserve_formatting: true,
      }),
    },
    limits,
  );
  if (response.status !== 200) {
    if (response.status === 400 && /(?:source|target)_lang/.test(response.body)) {
      throw new ProviderError(
        'fatal',
        `DeepL does not translate from ${body.source_lang} to ${body.target_lang}.`,
      );
    }
    throw statusError(NAMES, response);
  }
  const texts = readTexts(response.body);
  if (texts?.length === body.text.length) return texts;
  throw new ProviderError('retryable', 'DeepL sent a response that is not a list of translations.');
}

function readTexts(body: string): string[] | undefined {
  try {
    return responseSchema.parse(JSON.parse(body)).translations.map(({ text }) => text);
  } catch {
    return undefined;
  }
}

/**
 * The texts in groups that fit one request each.
 * @throws {ProviderError} fatal when a single text does not fit
 */
function partition(texts: readonly string[]): string[][] {
  const parts: string[][] = [];
  let part: string[] = [];
  let bytes = 0;
  for (const text of texts) {
    const size = Buffer.byteLength(JSON.stringify(text)) + 1;
    if (size > MAX_BYTES - ENVELOPE_BYTES) {
      throw new ProviderError(
        'fatal',
        'A text is longer than DeepL takes (128 KiB). Split the longest paragraph.',
      );
    }
    if (part.length > 0 && (part.length === MAX_TEXTS || bytes + size > MAX_BYTES - ENVELOPE_BYTES)) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(text);
    bytes += size;
  }
  if (part.length > 0) parts.push(part);
  return parts;
}

function baseCode(locale: Intl.Locale): string {
  return locale.language === 'no' ? 'NB' : locale.language.toUpperCase();
}

/** DeepL's code of a source language: no variants. */
export function sourceCode(tag: string): string {
  return baseCode(new Intl.Locale(tag));
}

/** DeepL's code of a target language: variants where it has them, and where it insists on one. */
export function targetCode(tag: string): string {
  const locale = new Intl.Locale(tag);
  const { region, script } = locale.maximize();
  switch (locale.language) {
    case 'en':
      return region === 'US' ? 'EN-US' : 'EN-GB';
    case 'pt':
      return region === 'BR' ? 'PT-BR' : 'PT-PT';
    case 'zh':
      return script === 'Hant' ? 'ZH-HANT' : 'ZH-HANS';
    case 'es':
      return region === 'ES' ? 'ES' : 'ES-419';
    default:
      return baseCode(locale);
  }
}
