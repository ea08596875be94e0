const MAX_TITLE = 80;

/** What an operator reads of a translation in a list of runs; Temporal allows 200 bytes. */
export function describeTranslation(title: string, source: string, target: string): string {
  const characters = [...title];
  const short = characters.length > MAX_TITLE ? `${characters.slice(0, MAX_TITLE - 1).join('')}…` : title;
  const summary = `${short}: ${source} → ${target}`;
  return Buffer.byteLength(summary) <= 200 ? summary : `${source} → ${target}`;
}
