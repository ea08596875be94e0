/** Writes translated segments back into a copy of the source. */
import type { AssetId } from '../../ids.ts';
import { MAX_KEYWORD, MAX_META_DESCRIPTION, MAX_META_TITLE, MAX_TITLE } from '../format/limits.ts';
import { parseDocument, STORED_BOUNDS } from '../format/parse.ts';
import { type DocumentJson, MAX_ALT_TEXT, MAX_TEXT } from '../format/schema.ts';
import { mapTexts, type TextChange, type TextField } from '../format/walk.ts';
import { cutAtWord } from '../text/characters.ts';
import { MAX_LINK_TITLE } from '../text/marks.ts';
import { checkStructure } from './checks/structure.ts';
import { encodeField } from './field-codec.ts';
import { type ChangedText, unsavableTexts } from './savable.ts';
import { metaFields, needsTranslation, partKey, titleKey } from './segments.ts';
import type { Snapshot } from './source.ts';
import { joinParts, splitLong } from './split.ts';
import { parseTags, serializeTags, type TagContent } from './tags.ts';

/** The target article's content. */
export interface TranslatedArticle {
  title: string;
  metaTitle: string | null;
  metaDescription: string | null;
  targetKeywords: string[];
  secondaryKeywords: string[];
  document: DocumentJson;
  /** Alt texts of the copied images, by the id of the source asset. */
  altTexts: Map<string, string>;
  /** Keys of texts that keep the source's words: their translation is longer than a client may save. */
  overlong: Set<string>;
}

/** A segment is missing or damaged. Never thrown for translations that passed `checkStructure`. */
export class ReassemblyError extends Error {
  override readonly name = 'ReassemblyError';
}

/** A `ReassemblyError` that can be passed between threads, where errors lose their class. */
export interface Unwritable {
  readonly ok: false;
  readonly problem: string;
}

/** The result of `write`, or its `ReassemblyError` as a value. */
export function orUnwritable<Written>(write: () => Written): Written | Unwritable {
  try {
    return write();
  } catch (error) {
    if (error instanceof ReassemblyError) return { ok: false, problem: error.message };
    throw error;
  }
}

/**
 * The translated article. Block ids, code, addresses, linked articles and structure are the source's. The document is
 * always valid. A translation beyond the length that a client may save is not written (contract.md V38).
 * @param translations checked translations by the keys of `extractSegments(snapshot)`; null keeps the source's text
 * @param assetIds the copies of the source's images
 * @param kept fields by key that are taken over instead of translated
 * @throws ReassemblyError when a translation is missing or damaged.
 */
export function reassemble(
  snapshot: Snapshot,
  translations: ReadonlyMap<string, string | null>,
  assetIds: ReadonlyMap<string, AssetId>,
  kept: ReadonlyMap<string, TextChange> = new Map(),
): TranslatedArticle {
  const translate = (key: string, field: Pick<TextField, 'text' | 'markdown' | 'links'>): TextChange => {
    const there = kept.get(key);
    if (there !== undefined) return there;
    const encoded = encodeField(field);
    const titles = new Map<number, string>();
    for (const [id, title] of encoded.titles) {
      const translated = translate(titleKey(key, id), { text: title, markdown: false, links: [] }).text;
      titles.set(id, cutAtWord(translated, MAX_LINK_TITLE));
    }
    const wanted = isTranslated(key, encoded.nodes, translations);
    if (!wanted && titles.size === 0) return { text: field.text };
    const nodes = wanted ? translatedText(key, encoded.nodes, translations) : encoded.nodes;
    return encoded.decode(nodes, titles);
  };
  const meta = new Map<string, string>();
  for (const { key, text } of metaFields(snapshot)) {
    meta.set(key, oneLine(translate(key, { text, markdown: false, links: [] }).text));
  }
  const metaText = (key: string, limit = Number.POSITIVE_INFINITY): string =>
    cutAtWord(meta.get(key) ?? '', limit);
  const changed: ChangedText[] = [];
  let document = mapTexts(snapshot.document, (field) => {
    const change = translate(field.key, field);
    if (field.kind === 'altText') return { text: cutAtWord(change.text, MAX_ALT_TEXT) };
    // Short plain texts fit in any case; a table has very many.
    if (field.markdown || change.text.length > MAX_TEXT) changed.push({ field, after: change.text });
    return change;
  });
  const overlong = unsavableTexts(changed);
  if (overlong.size > 0) {
    document = mapTexts(document, ({ key, text }) => {
      const source = overlong.get(key);
      return source === undefined ? { text } : { text: source.text, links: [...source.links] };
    });
  }

  replaceAssets(document, assetIds);
  const parsed = parseDocument(document, STORED_BOUNDS);
  if (!parsed.ok)
    throw new ReassemblyError(`translated document is not valid: ${JSON.stringify(parsed.issues[0])}`);
  return {
    title: metaText('title', MAX_TITLE),
    metaTitle: snapshot.metaTitle === null ? null : metaText('metaTitle', MAX_META_TITLE),
    metaDescription:
      snapshot.metaDescription === null ? null : metaText('metaDescription', MAX_META_DESCRIPTION),
    targetKeywords: snapshot.targetKeywords.map((_, index) =>
      metaText(`targetKeyword.${index}`, MAX_KEYWORD),
    ),
    secondaryKeywords: snapshot.secondaryKeywords.map((_, index) =>
      metaText(`secondaryKeyword.${index}`, MAX_KEYWORD),
    ),
    document: parsed.document,
    altTexts: new Map(snapshot.assets.map((asset, index) => [asset.id, metaText(`asset.${index}.alt`)])),
    overlong: new Set(overlong.keys()),
  };
}

/** True for a text with words, and for figures alone that were sent. */
const isTranslated = (
  key: string,
  nodes: readonly TagContent[],
  translations: ReadonlyMap<string, string | null>,
): boolean => needsTranslation(nodes) || translations.has(key);

/** The translated tree of one text, joined when it was translated in parts. */
function translatedText(
  key: string,
  source: readonly TagContent[],
  translations: ReadonlyMap<string, string | null>,
): TagContent[] {
  const parts = splitLong(source);
  if (parts.length === 1) return translatedNodes(key, source, translations);
  return joinParts(
    parts.map(({ nodes, after }, part) => ({
      nodes: isTranslated(partKey(key, part), nodes, translations)
        ? translatedNodes(partKey(key, part), nodes, translations)
        : nodes,
      after,
    })),
  );
}

function translatedNodes(
  key: string,
  source: readonly TagContent[],
  translations: ReadonlyMap<string, string | null>,
): TagContent[] {
  const translated = translations.get(key);
  if (translated === null) return [...source];
  if (translated === undefined) throw new ReassemblyError(`the translation of ${key} is missing`);
  const [defect] = checkStructure(serializeTags(source), translated);
  const parsed = parseTags(translated);
  if (defect !== undefined || !parsed.ok) {
    throw new ReassemblyError(`the translation of ${key} is damaged: ${defect?.message ?? 'markup'}`);
  }
  return parsed.nodes;
}

/** Titles, keywords and alt texts are single lines. No-break, ideographic and other spaces stay what they are. */
function oneLine(text: string): string {
  return text.trim().replace(/[ \t\n\v\f\r\u2028\u2029]+/g, ' ');
}

/** Points image blocks to the copies of their assets, in place; images without a copy stay. */
export function replaceAssets(document: DocumentJson, assetIds: ReadonlyMap<string, string>): void {
  for (const block of document.blocks) {
    if (block.type === 'image') block.assetId = assetIds.get(block.assetId) ?? block.assetId;
  }
}
