/** Reads what a model wrote as Markdown: what may not stay is mended, and only what cannot be is a defect. */
import type { Paragraph, RootContent } from 'mdast';
import type { Block } from '../../../document/format/schema.ts';
import { collectTexts } from '../../../document/format/walk.ts';
import { parseMarkdown } from '../../../document/markdown/parse.ts';
import type { Defect } from '../brief.ts';
import { withKnownReferences } from '../citations.ts';
import { excerpt } from '../defects.ts';
import { BlockBuilder, type BlockRules } from './blocks.ts';
import { boundMarkdown, MAX_CHARACTERS } from './bound.ts';
import { closingStart, isChatter, isRefusal, openingLength } from './chatter.ts';
import { MAX_SHOWN } from './fields.ts';
import { type Mended, MendingCounter, type Note } from './mendings.ts';
import { mendPhrasing, textOf } from './phrasing.ts';

export interface PartRules extends BlockRules {
  /** The customer's own words: phrases in them are not talk about the response. */
  readonly said: string;
}

/** What a response says. The blocks are valid, and can be used without defects. */
export interface ReadPart {
  readonly blocks: readonly Block[];
  readonly mended: Mended;
  readonly defects: readonly Defect[];
}

/** What may stand before and behind a text that is fenced as a whole. */
const MAX_AROUND = 2;
const MARKDOWN = /^(?:markdown|md)$/i;

/**
 * Reads a part (contract.md G57 and G58). The time is bounded for any text.
 * @param characters of it that are read
 * @param shape changes the parsed nodes before they become blocks
 */
export function readPart(
  text: string,
  rules: PartRules,
  {
    characters = MAX_CHARACTERS,
    shape = (nodes) => nodes,
  }: {
    readonly characters?: number;
    readonly shape?: (nodes: RootContent[], note: Note) => RootContent[];
  } = {},
): ReadPart {
  const counter = new MendingCounter();
  const { note } = counter;
  if (isRefusal(text)) {
    return {
      blocks: [],
      mended: {},
      defects: [excerpt('refused', 'The response declines to write the text.', text)],
    };
  }
  const { nodes, definitions } = parseUnfenced(boundMarkdown(text, characters));
  const notes = rules.notes ?? 0;
  const phrasing = { addresses: rules.addresses, articles: rules.articles.length, references: notes > 0 };
  mendPhrasing(nodes, definitions, phrasing, note);
  const builder = new BlockBuilder(rules, note);
  for (const node of shape(withoutFrame(nodes, rules.said, note), note)) builder.read(node);
  const built = builder.finish();
  const blocks = notes > 0 ? withKnownReferences(built, notes) : built;
  const isCut = text.length > characters;
  return { blocks, mended: counter.counted(), defects: defectsOf(blocks, { said: rules.said, isCut }) };
}

/** Parses a text, or what is in the fence around it. */
function parseUnfenced(text: string) {
  const parsed = parseMarkdown(text);
  const fenced = parsed.nodes.filter((node) => node.type === 'code');
  const [only] = fenced;
  if (only === undefined || fenced.length > 1 || parsed.nodes.length > 1 + MAX_AROUND) return parsed;
  const isWhole =
    MARKDOWN.test(only.lang ?? '') &&
    parsed.nodes.every(({ type }) => type === 'code' || type === 'paragraph');
  return isWhole ? parseMarkdown(only.value) : parsed;
}

/** Without sentences about the response at the beginning and the end. */
function withoutFrame(nodes: readonly RootContent[], said: string, note: Note): RootContent[] {
  const kept = nodes.filter(({ type }) => type !== 'thematicBreak');
  note('rule', nodes.length - kept.length);
  for (let first = kept[0]; first?.type === 'paragraph'; first = kept[0]) {
    const text = textOf([first]);
    const length = openingLength(text, said);
    if (length === 0) break;
    note('chatter');
    if (length >= text.length) {
      kept.shift();
      continue;
    }
    cutCharacters(first, length, 'start');
    break;
  }
  for (let last = kept.at(-1); last?.type === 'paragraph'; last = kept.at(-1)) {
    const text = textOf([last]);
    const start = closingStart(text, said);
    if (start === text.length) break;
    note('chatter');
    if (text.slice(0, start).trim() === '') {
      kept.pop();
      continue;
    }
    cutCharacters(last, text.length - start, 'end');
    break;
  }
  return kept;
}

/** Removes so many characters of a paragraph; of what has marks all or nothing. */
function cutCharacters({ children }: Paragraph, characters: number, from: 'start' | 'end'): void {
  let left = characters;
  while (left > 0) {
    const node = from === 'start' ? children[0] : children.at(-1);
    const length = node === undefined ? 0 : textOf([node]).length;
    if (node?.type === 'text' && length > left) {
      node.value = from === 'start' ? node.value.slice(left) : node.value.slice(0, -left);
      return;
    }
    if (node === undefined || length > left) return;
    if (from === 'start') children.shift();
    else children.pop();
    left -= length;
  }
}

function defectsOf(
  blocks: readonly Block[],
  { said, isCut }: { readonly said: string; readonly isCut: boolean },
): Defect[] {
  if (blocks.length === 0) return [{ code: 'empty', problem: 'The response has no text of the article.' }];
  for (const { text, kind } of collectTexts({ version: 1, blocks: [...blocks] })) {
    if (kind !== 'attribution' && isChatter(text, said)) {
      const problem = 'A text speaks about the response or its writer. Write nothing but the article.';
      return [excerpt('chatter', problem, text)];
    }
  }
  const last = blocks.at(-1);
  // A text at its bound was cut by us.
  if (last?.type !== 'paragraph' || isCut || last.text.length >= MAX_SHOWN || isEnded(last.text)) return [];
  return [excerpt('truncated', 'The text ends in the middle of a sentence.', last.text.slice(-60))];
}

/** Scripts whose sentences end without punctuation. */
const UNMARKED = /[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;
/** Punctuation that ends a sentence, with quotes, brackets and emphasis after it. */
const ENDED = /[\p{Extended_Pictographic}.!?…。！？．؟۔।॥։።፧‽;)\]}"'“”‘’»«›‹」』）】`*_]["'“”‘’»)*_`\]]*$/u;
/** An amount, a name in code: `$5/month`, `v2`. */
const NO_WORD = /[^\s\p{L}\p{M}'’,:–—-][^\s,:–—-]*$/u;
/** A label is no sentence. */
const LABEL_WORDS = 3;
/** Characters at the end of a text that are tested. */
const TAIL = 100;

function isEnded(text: string): boolean {
  const tail = text.slice(-TAIL).trimEnd();
  return (
    UNMARKED.test(tail) ||
    ENDED.test(tail) ||
    NO_WORD.test(tail) ||
    (!/[,:–—-]$/u.test(tail) && text.split(/\s+/, LABEL_WORDS + 1).length <= LABEL_WORDS)
  );
}
