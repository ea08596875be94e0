/** Texts that are too long for their field. */
import { MAX_KEYWORD, MAX_META_DESCRIPTION, MAX_META_TITLE, MAX_TITLE } from '../../format/limits.ts';
import { MAX_ALT_TEXT } from '../../format/schema.ts';
import { codePoints } from '../../text/characters.ts';
import { MAX_LINK_TITLE } from '../../text/marks.ts';
import type { SegmentKind } from '../segments.ts';
import { type Defect, soft } from './defects.ts';

/** The most characters of a field; a longer text is cut at a word when it is written. */
const LIMITS: Readonly<Partial<Record<SegmentKind, number>>> = {
  title: MAX_TITLE,
  metaTitle: MAX_META_TITLE,
  metaDescription: MAX_META_DESCRIPTION,
  keyword: MAX_KEYWORD,
  altText: MAX_ALT_TEXT,
  linkTitle: MAX_LINK_TITLE,
};

export function checkLimit(kind: SegmentKind, translated: string): Defect[] {
  const limit = LIMITS[kind];
  const length = codePoints(translated.trim().replace(/\s+/g, ' '));
  return limit === undefined || length <= limit
    ? []
    : [soft('limit', `the translation has ${length} characters: write one of at most ${limit}`)];
}
