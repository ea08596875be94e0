/**
 * Tasks on whole documents, which run on a separate thread for large ones. Documents go in and come out as text, so that
 * little is copied between threads.
 */
import type { AssetId } from '../../ids.ts';
import { dropDeadLinks } from '../format/links.ts';
import { type DocumentIssue, parseDocument, STORED_BOUNDS } from '../format/parse.ts';
import type { DocumentJson } from '../format/schema.ts';
import { collectTexts } from '../format/walk.ts';
import { countWords, textWeight, uncountedWeight } from '../format/words.ts';
import { toPlainText, weighInline } from '../inline/parse.ts';
import { ParsedTexts } from '../inline/texts.ts';
import { importMarkdown } from '../markdown/import.ts';
import { countStates } from '../refresh/states.ts';
import type { Provenance, StateCounts, Writer } from '../refresh/types.ts';
import { provenanceOf, unitsOf } from '../refresh/units.ts';
import { type Rendered, renderDocument } from '../render/document.ts';
import type { Term } from '../text/term-index.ts';
import type { LanguagePair } from '../translation/figures.ts';
import { occurringTerms } from '../translation/glossary.ts';
import { type PlannedTexts, planTexts } from '../translation/planned.ts';
import {
  orUnwritable,
  reassemble,
  replaceAssets,
  type TranslatedArticle,
  type Unwritable,
} from '../translation/reassemble.ts';
import { extractSegments, leftFields } from '../translation/segments.ts';
import type { Snapshot } from '../translation/source.ts';
import { attach, markPairs } from './attach.ts';
import { fitting, memoryKeys, taughtTexts } from './memory.ts';
import { applyPlan, currentValues, decide, listUnits, markCurrent, planVersion, sentOf } from './refresh.ts';
import { type RenderedDocument, type StoredDocument, toStore } from './stored.ts';

export type CheckedDocument =
  | { readonly ok: true; readonly stored: StoredDocument; readonly rendered: Rendered }
  | { readonly ok: false; readonly issues: readonly DocumentIssue[]; readonly omitted: number };

const readDocument = (json: string): DocumentJson => JSON.parse(json) as DocumentJson;

/** Checks JSON text against the document format, with the bounds for clients or for stored documents, and renders it. */
function check(json: string, from: 'client' | 'stored' = 'client'): CheckedDocument {
  const texts = new ParsedTexts();
  const parsed = parseDocument(JSON.parse(json), texts, from === 'stored' ? STORED_BOUNDS : undefined);
  return parsed.ok ? { ok: true, ...toStore(dropDeadLinks(parsed.document), texts) } : parsed;
}

/** Renders a stored document. */
const render = (json: string): Rendered => renderDocument(readDocument(json));

/** The document with its assets replaced by their copies. */
function copyDocument(json: string, assetIds: ReadonlyMap<string, string>): string {
  const document = readDocument(json);
  replaceAssets(document, assetIds);
  return JSON.stringify(document);
}

/** The texts to send of a snapshot (JSON text). */
function plan(json: string, languages: LanguagePair): PlannedTexts {
  const snapshot = JSON.parse(json) as Snapshot;
  return planTexts(extractSegments(snapshot, undefined, languages), snapshot);
}

/** The texts to send of a refresh; `source` is its source article, null when deleted. */
function planSegmentsOf(refresh: string, source: string | null): PlannedTexts {
  const { partial, languages, segments } = sentOf(refresh);
  const whole = source === null ? partial : (JSON.parse(source) as Snapshot);
  return planTexts(segments, whole, partial, languages);
}

/** A translated article as stored. */
export type AssembledArticle = Omit<TranslatedArticle, 'document'> &
  RenderedDocument & {
    /** The version's provenance, and its units' sources, as JSON text. */
    readonly provenance: string;
    readonly sources: string;
  };

/** The article, or why it cannot be written. */
export type Assembled = { readonly ok: true; readonly article: AssembledArticle } | Unwritable;

/** Writes translations into a copy of the snapshot (JSON text) with the images of `assetIds`, and renders it. */
function assemble(
  snapshot: string,
  translations: ReadonlyMap<string, string | null>,
  assetIds: ReadonlyMap<string, AssetId>,
  by: Writer,
): Assembled {
  const texts = new ParsedTexts();
  const source = JSON.parse(snapshot) as Snapshot;
  return orUnwritable(() => {
    const made = reassemble(source, translations, assetIds, texts);
    const { document, ...article } = made;
    const known = provenanceOf(source, made, assetIds, leftFields(translations).union(made.overlong));
    const provenance = known.provenance.map((unit) => (unit.target === null ? unit : { ...unit, wrote: by }));
    return {
      ok: true,
      article: {
        ...article,
        ...toStore(document, texts),
        provenance: JSON.stringify(provenance),
        sources: JSON.stringify(known.sources),
      },
    };
  });
}

/** Counts each version's units by state. Versions and provenance come in by id, as JSON text. */
function states(
  source: string,
  versions: ReadonlyMap<string, string>,
  provenance: ReadonlyMap<string, string>,
): Map<string, StateCounts> {
  const from = JSON.parse(source) as Snapshot;
  const units = unitsOf(from);
  const counts = new Map<string, StateCounts>();
  for (const [id, version] of versions) {
    const known = JSON.parse(provenance.get(id) ?? '[]') as Provenance;
    counts.set(id, countStates(from, JSON.parse(version) as Snapshot, known, units));
  }
  return counts;
}

/** The local images of a Markdown file, each path once, with its first alternative text. */
function findImages(source: string): { path: string; alt: string }[] {
  const found = new Map<string, string>();
  importMarkdown(source, {
    resolveImage: ({ path, alt }) => {
      if (!found.has(path)) found.set(path, alt);
      return null;
    },
  });
  return [...found].map(([path, alt]) => ({ path, alt }));
}

/** A Markdown file as a checked document. */
export interface ImportedDocument {
  readonly title: string | null;
  /** Number of images reduced to their alternative text. */
  readonly unusable: number;
  readonly checked: CheckedDocument;
}

/** Reads a Markdown file; `assets` has the asset ids of its local images by path. */
function importFile(
  source: string,
  keepTitleHeading: boolean,
  assets: ReadonlyMap<string, string>,
): ImportedDocument {
  const { title, unusable, document } = importMarkdown(source, {
    keepTitleHeading,
    resolveImage: ({ path }) => assets.get(path) ?? null,
  });
  return { title, unusable, checked: check(JSON.stringify(document)) };
}

/** A stored document's weight in the price (`textWeight`): its body, and the other translated texts. */
export type Counted =
  | { readonly ok: true; readonly body: number; readonly beside: number }
  | { readonly ok: false; readonly issue: DocumentIssue };

/** Finds a document that a translation could not be written into, before it is charged. */
function count(json: string): Counted {
  const texts = new ParsedTexts();
  const parsed = parseDocument(readDocument(json), texts, STORED_BOUNDS);
  if (!parsed.ok) {
    const [issue = { pointer: '', blockId: null, message: 'does not match the format' }] = parsed.issues;
    return { ok: false, issue };
  }
  const { document } = parsed;
  return {
    ok: true,
    body: countWords(document, texts, textWeight),
    beside: uncountedWeight(document, texts),
  };
}

/** The first `characters` code points of a stored document's text as shown. */
function excerpt(json: string, characters: number): string {
  const parts: string[] = [];
  let length = 0;
  for (const { kind, markdown, text } of collectTexts(readDocument(json))) {
    if (kind === 'altText') continue;
    // Text with too many marks to parse is shown as written.
    const shown = markdown && weighInline(text).problem === null ? toPlainText(text) : text;
    parts.push(shown);
    length += shown.length;
    // A code point has at most two units.
    if (length >= characters * 2) break;
  }
  return [...parts.join('\n').slice(0, characters * 2)].slice(0, characters).join('');
}

/** The glossary terms that occur in texts of this language; JSON text in and out. */
const termsIn = (glossary: string, texts: ReadonlyMap<string, string>, language: string): string =>
  JSON.stringify(occurringTerms(JSON.parse(glossary) as readonly Term[], [...texts.values()], language));

/** Every task by name. Arguments and results can be structured-cloned. */
export const TASKS = {
  count,
  excerpt,
  check,
  render,
  copyDocument,
  plan,
  planSegmentsOf,
  planVersion,
  applyPlan,
  decide,
  markCurrent,
  markPairs,
  attach,
  currentValues,
  listUnits,
  assemble,
  states,
  findImages,
  importFile,
  termsIn,
  memoryKeys,
  fitting,
  taughtTexts,
} as const;

export type TaskName = keyof typeof TASKS;
