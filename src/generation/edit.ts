/** The editor's pass: the whole article read once, and changed where that is worth it (contract.md G71 to G75). */
import { deliveredWords } from './delivered.ts';
import { writeOptionalPart } from './optional-part.ts';
import type { NewContent } from './parts.ts';
import { fewestWords } from './price.ts';
import { verdictsOf } from './research/facts.ts';
import { readPageRows } from './research/rows.ts';
import { bodyRoom } from './target-lengths.ts';
import { headingWords, lengthsOf, type TextPart, textParts, type WrittenWork } from './text-parts.ts';
import { EDITS_WORDS } from './write.ts';
import { required, type WritingDependencies, type WritingTask } from './write-part.ts';
import { applyEdits, type WordBounds } from './writing/editing/apply-edits.ts';
import type { RequestedEdits } from './writing/editing/read-in-turn.ts';
import { requestCorrections } from './writing/editing/request-corrections.ts';
import { requestEdits } from './writing/editing/request-edits.ts';

/** The editor's pass as stored. What it made of the parts is stored with them. */
export interface StoredEdits {
  readonly edits: readonly {
    readonly blockId: string;
    readonly change: 'replaced' | 'deleted';
    readonly reason: string;
  }[];
  /** Edits that broke a rule. */
  readonly refused: number;
  /** Parts that were not read, because they did not fit into the model's context. */
  readonly unread: number;
}

/** Has an editor read the whole, unless that was done. The article does without a pass that fails. */
export async function editArticle(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  await writeOptionalPart(dependencies, task, 'edits', async (writer, work, answered) => {
    const written = { ...work, outline: required(work.outline) };
    const texts = textParts(written);
    const draft = texts.map(({ text, ...part }) => ({ ...part, blocks: text.blocks }));
    const { brief, outline, isApproved, plan } = written;
    const request = { brief, outline, isApproved, plan, parts: draft, answered, signal: task.signal };
    return applied(written, texts, await requestEdits(writer, request));
  });
}

/**
 * Has an editor correct what sources contradict, unless that was done (contract.md N33). Nothing is requested where nothing is
 * contradicted; the article does without a pass that fails.
 */
export async function correctArticle(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  await writeOptionalPart(dependencies, task, 'corrections', async (writer, work, answered) => {
    const written = { ...work, outline: required(work.outline) };
    const texts = textParts(written);
    const sites = new Map<string, string>([
      ...work.notes.map(({ sourceId, site }): [string, string] => [sourceId, site]),
      ...(await readPageRows(dependencies.db, task)).map(({ id, site }): [string, string] => [
        id,
        site ?? '',
      ]),
    ]);
    const contradicted = verdictsOf(work.parts).claims.flatMap(({ blockId, sentence, verdict, evidence }) => {
      if (verdict !== 'contradicted' || evidence === null) return [];
      const { sourceId, passage } = evidence;
      const notes = work.notes.flatMap((note, index) => (note.sourceId === sourceId ? [index + 1] : []));
      return [{ blockId, sentence, passage, site: sites.get(sourceId) ?? '', notes }];
    });
    const { brief, outline, plan } = written;
    const parts = texts.map(({ text, ...part }) => ({ ...part, blocks: text.blocks }));
    const request = { brief, outline, plan, parts, contradicted, answered, signal: task.signal };
    return applied(written, texts, await requestCorrections(writer, request));
  });
}

/** The pass as stored, and the parts that it changes. */
function applied(
  written: WrittenWork,
  texts: readonly TextPart[],
  { edits, unusable, unread, correctable }: RequestedEdits,
): NewContent {
  const edited = applyEdits(
    texts.map(({ text }) => text.blocks),
    edits,
    boundsOf(written, texts),
    correctable,
  );
  const revised = texts.flatMap(({ part, text }, index): [number, object][] => {
    const blocks = edited.parts[index] ?? text.blocks;
    return blocks === text.blocks ? [] : [[part, { ...text, blocks, words: deliveredWords(blocks) }]];
  });
  const content: StoredEdits = {
    edits: edited.applied.map(({ blockId, block, reason }) => ({
      blockId,
      change: block === null ? 'deleted' : 'replaced',
      reason,
    })),
    refused: edited.refused.length + unusable,
    unread,
  };
  return { content, words: EDITS_WORDS, revised: new Map(revised) };
}

/** Edits neither make an article too short to be sold, nor longer than it may be. */
function boundsOf({ brief, plan }: WrittenWork, texts: readonly TextPart[]): WordBounds {
  const headings = headingWords(texts);
  const words = deliveredWords(texts.flatMap(({ text }) => text.blocks));
  return {
    least: Math.min(words, fewestWords(brief.config) - headings),
    most: bodyRoom(lengthsOf(brief.config, plan)) - headings,
  };
}
