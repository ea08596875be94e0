/** The fields of blocks, within their bounds. */
import type { Paragraph } from 'mdast';
import { type ArticleLink, MAX_LINKS, MAX_TEXT, type SubList } from '../../../document/format/schema.ts';
import { type InlineRun, runsText } from '../../../document/inline/runs.ts';
import { type FieldText, fieldText } from '../../../document/markdown/field-text.ts';
import { readPhrasing } from '../../../document/markdown/phrasing.ts';
import type { LinkableArticle } from '../brief.ts';
import { articleOf } from './phrasing.ts';

/** Characters of a text before what Markdown adds to them. */
export const MAX_SHOWN = MAX_TEXT / 2;

/** The runs of nodes whose content is mended. */
export const runsOf = (nodes: Paragraph['children']): InlineRun[] => readPhrasing(nodes, new Map()).runs;

/** The runs cut to the length of a text. */
export function bounded(runs: readonly InlineRun[]): InlineRun[] {
  if (runsText(runs).length <= MAX_SHOWN) return [...runs];
  let left = MAX_SHOWN;
  return runs.flatMap((run) => {
    const text = run.text.slice(0, left).toWellFormed();
    left -= text.length;
    return text === '' ? [] : [{ ...run, text }];
  });
}

/** The text as a field; as plain text where Markdown would make it too long. */
export function asField(runs: readonly InlineRun[]): FieldText {
  const field = fieldText(bounded(runs));
  return field.text.length <= MAX_TEXT ? field : { text: runsText(bounded(runs)) };
}

/** The links to articles in the runs, by their words. */
export function linksIn(runs: readonly InlineRun[], articles: readonly LinkableArticle[]): ArticleLink[] {
  const words = new Map<object, string>();
  for (const { link, text } of runs) if (link !== null) words.set(link, `${words.get(link) ?? ''}${text}`);
  const links = [...new Set(runs.flatMap(({ link }) => link ?? []))].flatMap((link) => {
    const article = articles[(articleOf(link.url) ?? 0) - 1];
    return article === undefined ? [] : [{ text: words.get(link) ?? '', articleId: article.id }];
  });
  return links.slice(0, MAX_LINKS);
}

/** The first items of a list and of the lists in it; null without any. */
export function fewItems(list: SubList, left: { items: number }): SubList | null {
  const items: string[] = [];
  const children: (SubList | null)[] = [];
  for (const [index, item] of list.items.entries()) {
    left.items -= 1;
    if (left.items < 0) break;
    items.push(item.slice(0, MAX_TEXT).toWellFormed());
    const child = list.children?.[index] ?? null;
    children.push(child === null ? null : fewItems(child, left));
  }
  if (items.length === 0) return null;
  const nested = children.some((child) => child !== null);
  return { ordered: list.ordered, items, children: nested ? children : undefined };
}

/** All items of a list. */
export const itemsOf = (list: SubList): string[] => [
  ...list.items,
  ...(list.children ?? []).flatMap((child) => (child === null ? [] : itemsOf(child))),
];
