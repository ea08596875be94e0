/**
 * Tasks on whole documents, which run on a separate thread for large ones. Documents go in and come out as text, so that
 * little is copied between threads.
 */
import { dropDeadLinks } from '../format/links.ts';
import { type DocumentIssue, parseDocument, STORED_BOUNDS } from '../format/parse.ts';
import type { DocumentJson } from '../format/schema.ts';
import { collectTexts } from '../format/walk.ts';
import { countWords, textWeight, uncountedWeight } from '../format/words.ts';
import { parsingOnce, toPlainText, weighInline } from '../inline/parse.ts';
import { importMarkdown } from '../markdown/import.ts';
import { countStates } from '../refresh/states.ts';
import type { Provenance, StateCounts } from '../refresh/types.ts';
import { unitsOf } from '../refresh/units.ts';
import { type Rendered, renderDocument } from '../render/document.ts';
import type { Term } from '../text/term-index.ts';
import { occurringTerms } from '../translation/glossary.ts';
import { replaceAssets } from '../translation/reassemble.ts';
import type { Snapshot } from '../translation/source.ts';
import { attach, markPairs } from './attach.ts';
import { fitting, memoryKeys, taughtTexts } from './memory.ts';
import { planFirst, planSegments, planVersion } from './plan.ts';
import { applyPlan, currentValues, decide, listUnits, markCurrent } from './refresh.ts';
import { standing } from './standing.ts';
import { type StoredDocument, toStore } from './stored.ts';

export type CheckedDocument =
  | { readonly ok: true; readonly stored: StoredDocument; readonly rendered: Rendered }
  | { readonly ok: false; readonly issues: readonly DocumentIssue[]; readonly omitted: number };

const readDocument = (json: string): DocumentJson => JSON.parse(json) as DocumentJson;

/** Checks JSON text against the document format, with the bounds for clients or for stored documents, and renders it. */
function check(json: string, from: 'client' | 'stored' = 'client'): CheckedDocument {
  const parsed = parseDocument(JSON.parse(json), from === 'stored' ? STORED_BOUNDS : undefined);
  return parsed.ok ? { ok: true, ...toStore(dropDeadLinks(parsed.document)) } : parsed;
}

/** Renders a stored document. */
const render = (json: string): Rendered => renderDocument(readDocument(json));

/** The document with its assets replaced by their copies. */
function copyDocument(json: string, assetIds: ReadonlyMap<string, string>): string {
  const document = readDocument(json);
  replaceAssets(document, assetIds);
  return JSON.stringify(document);
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
  const parsed = parseDocument(readDocument(json), STORED_BOUNDS);
  if (!parsed.ok) {
    const [issue = { pointer: '', blockId: null, message: 'does not match the format' }] = parsed.issues;
    return { ok: false, issue };
  }
  const { document } = parsed;
  return {
    ok: true,
    body: countWords(document, textWeight),
    beside: uncountedWeight(document),
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

const TASKS = {
  count,
  excerpt,
  standing,
  check,
  render,
  copyDocument,
  planSegments,
  planFirst,
  planVersion,
  applyPlan,
  decide,
  markCurrent,
  markPairs,
  attach,
  currentValues,
  listUnits,
  states,
  findImages,
  importFile,
  termsIn,
  memoryKeys,
  fitting,
  taughtTexts,
} as const;

/** Tasks by name. Arguments and results can be structured-cloned. */
export type TaskName = keyof typeof TASKS;
export type TaskArguments<Name extends TaskName> = Parameters<(typeof TASKS)[Name]>;
export type TaskResult<Name extends TaskName> = ReturnType<(typeof TASKS)[Name]>;

const DOING: { [Name in TaskName]: (...args: TaskArguments<Name>) => TaskResult<Name> } = TASKS;

/** Does a task here and now. */
export const work = <Name extends TaskName>(task: Name, ...args: TaskArguments<Name>): TaskResult<Name> =>
  parsingOnce(() => DOING[task](...args));
