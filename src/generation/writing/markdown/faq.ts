/** Brings the questions at the end of an article into their form: each a heading of level 3 with its response below. */
import type { Heading, RootContent } from 'mdast';
import type { Block } from '../../../document/format/schema.ts';
import type { Note } from './mendings.ts';
import { textOf } from './phrasing.ts';

export const MIN_QUESTIONS = 3;
export const MAX_QUESTIONS = 5;
/** Words of a line that may be a question. */
const MAX_QUESTION_CHARACTERS = 200;

const ASKS = /[?？؟;][*_\s]{0,4}$/u;

/** The nodes with every question as a heading of the same depth, and no other headings. */
export function shapeQuestions(nodes: readonly RootContent[], note: Note): RootContent[] {
  const lines = nodes.map((node) => asQuestion(node, note));
  const headings = lines.filter((node): node is Heading => node.type === 'heading');
  const depth = questionDepth(headings);
  return lines.flatMap((node, index): RootContent[] => {
    if (node.type !== 'heading' || node.depth === depth) return [node];
    note('heading');
    const isAbove = node.depth < depth || lines[index + 1]?.type === 'heading';
    return isAbove ? [] : [{ type: 'paragraph', children: node.children }];
  });
}

/** A paragraph that is one bold question, as a heading. */
function asQuestion(node: RootContent, note: Note): RootContent {
  if (node.type !== 'paragraph' || node.children.length !== 1) return node;
  const [only] = node.children;
  const text = textOf([node]);
  if (only?.type !== 'strong' || text.length > MAX_QUESTION_CHARACTERS || !ASKS.test(text)) return node;
  note('heading');
  return { type: 'heading', depth: 3, children: only.children };
}

/** The depth that most headings have, the higher one of two. */
function questionDepth(headings: readonly Heading[]): number {
  const times = new Map<number, number>();
  for (const { depth } of headings) times.set(depth, (times.get(depth) ?? 0) + 1);
  const most = Math.max(0, ...times.values());
  return Math.min(...[...times].flatMap(([depth, count]) => (count === most ? [depth] : [])), 6);
}

/** The blocks of each question, its heading first. What stands before the first question belongs to none. */
export function questionsIn(blocks: readonly Block[]): Block[][] {
  const questions: Block[][] = [];
  for (const block of blocks) {
    if (block.type === 'heading') questions.push([block]);
    else questions.at(-1)?.push(block);
  }
  return questions;
}
