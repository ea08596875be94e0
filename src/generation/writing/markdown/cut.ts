/** Cuts a part to a number of words, where that hurts least. */
import type { Block, SubList } from '../../../document/format/schema.ts';
import { countTextWords, wordsIn } from '../../../document/format/words.ts';
import { serializeInline } from '../../../document/inline/markdown.ts';
import { parseInline } from '../../../document/inline/parse.ts';
import { hasFormatting, type InlineRun, runsText } from '../../../document/inline/runs.ts';
import { deliveredWords } from '../../delivered.ts';
import { MIN_QUESTIONS, questionsIn } from './faq.ts';

/** A cut at the end of a block keeps at least this much of what may stay, one inside a sentence is made below the other. */
const ENOUGH = 0.85;
const TOO_LITTLE = 0.5;

/**
 * The beginning of the blocks with at most so many words: it ends with a block where that keeps enough, else with a sentence
 * or a row, else with a word; code with a line (contract.md G59).
 * @param words at least 1
 */
export function cutBlocks(blocks: readonly Block[], words: number): Block[] {
  const kept: Block[] = [];
  let left = words;
  for (const block of blocks) {
    const own = deliveredWords([block]);
    if (own > left) {
      const hasText = kept.some(({ type }) => type !== 'heading');
      const part = cutBlock(block, left, !hasText || words - left < words * TOO_LITTLE);
      if (part !== null && !(hasText && words - left >= words * ENOUGH)) kept.push(part);
      break;
    }
    kept.push(block);
    left -= own;
  }
  while (kept.at(-1)?.type === 'heading') kept.pop();
  if (kept.length > 0) return kept;
  // There was room for headings only.
  const first = blocks.find(({ type }) => type !== 'heading');
  const part = first === undefined ? null : cutBlock(first, words, true);
  return part === null ? [] : [part];
}

/**
 * The first questions with at most so many words; of the first three at least the beginning of each response stays.
 * @param words at least 1
 */
export function cutQuestions(blocks: readonly Block[], words: number): Block[] {
  const questions = questionsIn(blocks);
  let left = questions.length;
  const ofFirst = (count: number): number => deliveredWords(questions.slice(0, count).flat());
  while (left > MIN_QUESTIONS && ofFirst(left) > words) left -= 1;
  const kept = questions.slice(0, left);
  if (ofFirst(left) <= words) return kept.flat();
  // Each has an equal part of the words, and what those before it left.
  let room =
    words - kept.reduce((sum, [heading]) => sum + (heading === undefined ? 0 : deliveredWords([heading])), 0);
  return kept.flatMap(([heading, ...response], index) => {
    if (heading === undefined) return [];
    const shown = cutBlocks(response, Math.max(1, Math.floor(room / (kept.length - index))));
    room -= deliveredWords(shown);
    return [heading, ...shown];
  });
}

/** The beginning of a block; null when nothing of it fits. @param byWord may be cut in the middle of a sentence */
function cutBlock(block: Block, words: number, byWord: boolean): Block | null {
  if (words < 1) return null;
  switch (block.type) {
    case 'paragraph':
    case 'quote': {
      const text = cutField(block.text, block.format === 'markdown', words, byWord);
      if (text === null) return null;
      // What is cut of a quote is no longer what its source said.
      return block.type === 'quote'
        ? { id: block.id, type: 'paragraph', ...text }
        : {
            id: block.id,
            type: 'paragraph',
            ...text,
            ...(block.links === undefined ? {} : { links: block.links }),
          };
    }
    case 'list': {
      const left = { words };
      const list = cutList(block, left, block.format === 'markdown');
      if (list !== null) return { ...block, ...list };
      const [first] = block.items;
      if (!byWord || first === undefined) return null;
      const text = cutField(first, block.format === 'markdown', words, true);
      return text === null ? null : { id: block.id, type: 'paragraph', ...text };
    }
    case 'table': {
      let rows = block.rows.length;
      while (rows > 0 && deliveredWords([{ ...block, rows: block.rows.slice(0, rows) }]) > words) rows -= 1;
      if (rows > 0) return { ...block, rows: block.rows.slice(0, rows) };
      const cells = [...block.header, ...block.rows.flat()].find((cell) => countTextWords(cell) > 0);
      if (!byWord || cells === undefined) return null;
      const text = cutField(cells, block.format === 'markdown', words, true);
      return text === null ? null : { id: block.id, type: 'paragraph', ...text };
    }
    case 'code': {
      const lines = block.text.split('\n');
      let [kept, left] = [0, words];
      for (const line of lines) {
        left -= countTextWords(line);
        if (left < 0) break;
        kept += 1;
      }
      const text = lines.slice(0, kept).join('\n').trimEnd();
      if (text.trim() !== '') return { ...block, text };
      return byWord ? { ...block, text: firstWords(block.text.trimStart(), words) } : null;
    }
    default:
      return null;
  }
}

/** The first items of a list and of the lists in it. */
function cutList(list: SubList, left: { words: number }, markdown: boolean): SubList | null {
  const items: string[] = [];
  const children: (SubList | null)[] = [];
  for (const [index, item] of list.items.entries()) {
    const own = countTextWords(markdown ? runsText(parseInline(item)) : item);
    if (own > left.words) {
      left.words = 0;
      break;
    }
    left.words -= own;
    items.push(item);
    const child = list.children?.[index] ?? null;
    children.push(child === null || left.words === 0 ? null : cutList(child, left, markdown));
    if (left.words === 0) break;
  }
  if (items.length === 0) return null;
  return {
    ordered: list.ordered,
    items,
    children: children.some((child) => child !== null) ? children : undefined,
  };
}

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });

/** The first sentences of a field, else its first words. */
function cutField(
  text: string,
  markdown: boolean,
  words: number,
  byWord: boolean,
): { text: string; format?: 'markdown' } | null {
  const runs = markdown ? parseInline(text) : null;
  const plain = runs === null ? text : runsText(runs);
  let [end, left] = [0, words];
  for (const { index, segment } of SENTENCES.segment(plain)) {
    left -= countTextWords(segment);
    if (left < 0) break;
    end = index + segment.length;
  }
  const shown = plain.slice(0, end).trimEnd();
  if (shown !== '' && /[\p{L}\p{N}]/u.test(shown)) return firstCharacters(runs, plain, shown.length);
  if (!byWord) return null;
  const length = firstWords(plain, words).length;
  return length === 0 ? null : firstCharacters(runs, plain, length - 1, '…');
}

/** The first characters of a field, with their marks. */
function firstCharacters(
  runs: readonly InlineRun[] | null,
  plain: string,
  length: number,
  end = '',
): { text: string; format?: 'markdown' } {
  if (runs === null) return { text: `${plain.slice(0, length)}${end}` };
  let left = length;
  const kept = runs.flatMap((run): InlineRun[] => {
    const text = run.text.slice(0, left);
    left -= text.length;
    return text === '' ? [] : [{ ...run, text }];
  });
  if (end !== '') kept.push({ kind: 'text', text: end, strong: false, emphasis: false, link: null });
  return hasFormatting(kept) ? { text: serializeInline(kept), format: 'markdown' } : { text: runsText(kept) };
}

/** The first words of a text and an ellipsis; empty without words. */
function firstWords(text: string, words: number): string {
  const last = wordsIn(text).slice(0, words).at(-1);
  return last === undefined ? '' : `${text.slice(0, last.end)}…`;
}
