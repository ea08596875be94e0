/**
 * Inline content as a flat list of runs, each with its marks. Flat lists keep nesting, merging and comparing
 * simple: a mark is either on a character or not, however the Markdown nested it.
 */

/** The target of an inline link. Links are equal only when they are the same object. */
export interface LinkTarget {
  readonly url: string;
  readonly title: string | null;
}

/** Characters with the same marks. `code` runs are shown verbatim. */
export interface InlineRun {
  readonly kind: 'text' | 'code';
  readonly text: string;
  readonly strong: boolean;
  readonly emphasis: boolean;
  readonly link: LinkTarget | null;
}

/** The marks of a run. */
export type Marks = Pick<InlineRun, 'strong' | 'emphasis' | 'link'>;

/** No mark at all. */
export const NO_MARKS: Marks = { strong: false, emphasis: false, link: null };

/** The three marks of a run. */
export type Mark = 'link' | 'strong' | 'emphasis';

/** The same content as a tree of at most three levels of marks. */
export type InlineNode =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'strong' | 'emphasis'; readonly children: InlineNode[] }
  | { readonly type: 'link'; readonly link: LinkTarget; readonly children: InlineNode[] };

/** A text run without marks. */
export function textRun(text: string): InlineRun {
  return { kind: 'text', text, strong: false, emphasis: false, link: null };
}

/** The characters of the runs as shown. */
export function runsText(runs: readonly InlineRun[]): string {
  return runs.map((run) => run.text).join('');
}

/** True when plain text cannot express the runs. */
export function hasFormatting(runs: readonly InlineRun[]): boolean {
  return runs.some((run) => run.kind === 'code' || run.strong || run.emphasis || run.link !== null);
}

/**
 * The canonical form: no white space at the edges of marks (Markdown cannot express it), no empty runs, neighbours with
 * equal marks merged, adjacent code spans separated by a space.
 */
export function normalizeRuns(runs: readonly InlineRun[]): InlineRun[] {
  let result = mergeRuns(runs);
  // When marks overlap, moving white space can change their nesting and so their edges.
  for (let round = 0; round < 8; round += 1) {
    const hoisted = mergeRuns(nestRuns(result).flatMap((node) => hoistSpace(node, NO_MARKS)));
    if (hoisted.length === result.length && equalRuns(hoisted, result)) break;
    result = hoisted;
  }
  return result;
}

function mergeRuns(runs: readonly InlineRun[]): InlineRun[] {
  const merged: InlineRun[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    const last = merged.at(-1);
    if (last !== undefined && texts.length > 1) merged[merged.length - 1] = { ...last, text: texts.join('') };
  };
  for (const run of runs) {
    if (run.text === '') continue;
    const last = merged.at(-1);
    const sameMarks = last !== undefined && last.kind === run.kind && equalMarks(last, run);
    if (sameMarks && run.kind === 'text') {
      texts.push(run.text);
      continue;
    }
    flush();
    if (sameMarks) merged.push({ ...run, kind: 'text', text: ' ' });
    merged.push(run);
    texts = [run.text];
  }
  flush();
  return merged;
}

function equalMarks(a: InlineRun, b: InlineRun): boolean {
  return a.strong === b.strong && a.emphasis === b.emphasis && a.link === b.link;
}

function markOf(run: InlineRun, mark: Mark): unknown {
  return run[mark] || null;
}

/** The node as runs, with white space at the edges of marks moved outside. */
function hoistSpace(node: InlineNode, marks: Marks): InlineRun[] {
  if (node.type === 'text' || node.type === 'code') return [{ kind: node.type, text: node.text, ...marks }];
  const inner = { ...marks, ...(node.type === 'link' ? { link: node.link } : { [node.type]: true }) };
  const runs = node.children.flatMap((child) => hoistSpace(child, inner));
  const unmark = (run: InlineRun, text: string): InlineRun => ({
    kind: 'text',
    text,
    ...marksWithin(run, node, marks),
  });
  const before: InlineRun[] = [];
  const after: InlineRun[] = [];
  let from = 0;
  let to = runs.length;
  for (; from < to; from += 1) {
    const run = runs[from];
    if (run === undefined || run.kind === 'code') break;
    const rest = run.text.trimStart();
    before.push(unmark(run, run.text.slice(0, run.text.length - rest.length)));
    runs[from] = { ...run, text: rest };
    if (rest !== '') break;
  }
  for (; to > from; to -= 1) {
    const run = runs[to - 1];
    if (run === undefined || run.kind === 'code') break;
    const rest = run.text.trimEnd();
    after.push(unmark(run, run.text.slice(rest.length)));
    runs[to - 1] = { ...run, text: rest };
    if (rest !== '') break;
  }
  return [...before, ...runs.slice(from, to), ...after.reverse()];
}

/** The marks of a run inside `node` when it is moved out of it. */
function marksWithin(run: InlineRun, node: InlineNode, outer: Marks): Marks {
  const { strong, emphasis, link } = run;
  const { type } = node;
  return {
    strong: type === 'strong' ? outer.strong : strong,
    emphasis: type === 'emphasis' ? outer.emphasis : emphasis,
    link: type === 'link' ? outer.link : link,
  };
}

/** The end of the runs with the same `mark` as the one at `from` (or, like it, none). */
function extent(runs: readonly InlineRun[], from: number, to: number, mark: Mark): number {
  const first = runs[from];
  let end = from + 1;
  while (end < to) {
    const run = runs[end];
    if (first === undefined || run === undefined || markOf(run, mark) !== markOf(first, mark)) break;
    end += 1;
  }
  return end;
}

const MARKS = ['link', 'strong', 'emphasis'] as const;

/** The runs as a tree. Of the marks that begin at a run, the longest is the outermost. */
export function nestRuns(runs: readonly InlineRun[]): InlineNode[] {
  return nest(runs, 0, runs.length, new Set());
}

function nest(runs: readonly InlineRun[], from: number, to: number, active: ReadonlySet<Mark>): InlineNode[] {
  const nodes: InlineNode[] = [];
  let index = from;
  while (index < to) {
    const run = runs[index];
    if (run === undefined) break;
    let outer: Mark | null = null;
    let end = index;
    for (const mark of MARKS) {
      if (active.has(mark) || markOf(run, mark) === null) continue;
      const reach = extent(runs, index, to, mark);
      if (reach > end) {
        outer = mark;
        end = reach;
      }
    }
    if (outer === null) {
      nodes.push({ type: run.kind, text: run.text });
      index += 1;
      continue;
    }
    const children = nest(runs, index, end, new Set([...active, outer]));
    if (outer !== 'link') nodes.push({ type: outer, children });
    else if (run.link !== null) nodes.push({ type: 'link', link: run.link, children });
    index = end;
  }
  return nodes;
}

/** True when both lists have the same characters and marks; links are compared by target. */
export function equalRuns(a: readonly InlineRun[], b: readonly InlineRun[]): boolean {
  if (a.length !== b.length) return false;
  return a.every((run, index) => {
    const other = b[index];
    return (
      other !== undefined &&
      run.kind === other.kind &&
      run.text === other.text &&
      run.strong === other.strong &&
      run.emphasis === other.emphasis &&
      run.link?.url === other.link?.url &&
      (run.link?.title || null) === (other.link?.title || null)
    );
  });
}
