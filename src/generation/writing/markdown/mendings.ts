/** What was corrected in a model's text without a call. */
export const MENDINGS = [
  'address',
  'chatter',
  'cut',
  'footnote',
  'heading',
  'html',
  'image',
  'link',
  'quote',
  'repeated',
  'rule',
  'shape',
] as const;
export type Mending = (typeof MENDINGS)[number];

/** How often each was needed; those that were not are absent. */
export type Mended = Readonly<Partial<Record<Mending, number>>>;

/** Notes each correction. */
export type Note = (mending: Mending, times?: number) => void;

/** Counts corrections. */
export class MendingCounter {
  private readonly counts = new Map<Mending, number>();

  readonly note: Note = (mending, times = 1) => {
    if (times > 0) this.counts.set(mending, (this.counts.get(mending) ?? 0) + times);
  };

  counted(): Mended {
    return Object.fromEntries([...this.counts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  }
}
