/** What a page says, without what stands around it. Pure; hostile pages are given to it on a thread that can be ended. */
import { Readability } from '@mozilla/readability';
import { parseHTML } from 'linkedom';
import type { PageRefusal } from './page.ts';
import { plainText, shortLine, type TreeNode } from './plain-text.ts';
import { withBody } from './scan.ts';
import { speaksToModels } from './speaks-to-models.ts';

/** Texts are bounded and have no control characters. */
export interface Extracted {
  readonly title: string;
  readonly site: string;
  /** ISO 8601. */
  readonly publishedAt: string | null;
  readonly text: string;
}

const MAX_LINE = 300;
const MAX_SITE = 100;
/** A page that says less is a form, a wall or an error. Characters. */
const MIN_TEXT = 120;
/** Dates before the web are mistakes. */
const FIRST_YEAR = 1990;

function dateOf(text: string | null | undefined, now: Date): string | null {
  const date = new Date((text ?? '').trim().slice(0, 40));
  const isLikely = date.getUTCFullYear() >= FIRST_YEAR && date.getTime() <= now.getTime() + 86_400_000;
  return isLikely ? date.toISOString() : null;
}

/**
 * The readable text of a page, unless it gives orders to models (contract.md N6 and N7).
 * @param host stands for a missing name of the site
 */
export function extractPage(html: string, host: string, now: Date): Extracted | { refusal: PageRefusal } {
  const whole = withBody(html);
  if (whole === null) return { refusal: 'too deeply nested' };
  const { document } = parseHTML(whole);
  const time = document.querySelector('time[datetime]')?.getAttribute('datetime');
  const article = new Readability<TreeNode>(document, {
    serializer: (node) => node as unknown as TreeNode,
  }).parse();
  const text = article?.content == null ? '' : plainText(article.content);
  if (text.length < MIN_TEXT) return { refusal: 'no readable text' };
  const title = shortLine(article?.title, MAX_LINE).trim();
  const site = shortLine(article?.siteName, MAX_SITE).trim();
  if (speaksToModels(`${title}\n\n${site}\n\n${text}`) !== null) return { refusal: 'speaks to models' };
  return {
    title: title === '' ? host : title,
    site: site === '' ? host : site,
    publishedAt: dateOf(article?.publishedTime, now) ?? dateOf(time, now),
    text,
  };
}
