import { Parser } from 'htmlparser2';

/** As deep as browsers build a tree. Deeper ones hold parsers for minutes. */
const MAX_DEPTH = 512;

/** True when elements stand deeper in each other than 512 (contract.md N6). Linear; builds no tree. */
export function isTooDeep(html: string): boolean {
  let depth = 0;
  let deepest = 0;
  const parser = new Parser({
    onopentag() {
      depth += 1;
      deepest = Math.max(deepest, depth);
    },
    onclosetag() {
      depth -= 1;
    },
  });
  const STEP = 64 * 1024;
  for (let at = 0; at < html.length && deepest <= MAX_DEPTH; at += STEP)
    parser.write(html.slice(at, at + STEP));
  return deepest > MAX_DEPTH;
}
