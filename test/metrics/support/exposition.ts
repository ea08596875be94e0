/** A scrape, checked line by line against the text format (version 0.0.4) that Prometheus reads. */
export interface Exposition {
  /** The value of the one series of this name that has these labels; undefined when there is none. */
  value(name: string, labels?: Readonly<Record<string, string>>): number | undefined;
  /** Every family by name, with its type. */
  readonly families: ReadonlyMap<string, string>;
  /** Every label value with its label's name, each once. */
  readonly labels: readonly (readonly [name: string, value: string])[];
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME})(?: (.*))?$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? (\\S+)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"(?:,|$)/y;
const TYPES = new Set(['counter', 'gauge', 'histogram', 'summary', 'untyped']);
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};

/** As Go reads numbers, which Prometheus leaves it to: NaN and Inf in any case. */
function parseValue(text: string): number {
  if (/^nan$/i.test(text)) return Number.NaN;
  if (/^[+-]?inf$/i.test(text))
    return text.startsWith('-') ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text)) throw new Error(`no number: ${text}`);
  return Number(text);
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  LABEL.lastIndex = 0;
  while (LABEL.lastIndex < text.length) {
    const at = LABEL.lastIndex;
    const match = LABEL.exec(text);
    if (match === null) throw new Error(`no label: ${text.slice(at)}`);
    const [, name = '', value = ''] = match;
    if (name in labels) throw new Error(`label twice: ${name}`);
    labels[name] = value;
  }
  return labels;
}

const keyOf = ({ name, labels }: Omit<Sample, 'value'>): string =>
  JSON.stringify([name, Object.entries(labels).sort()]);

/** Buckets of one histogram series must grow, and the last one must be `+Inf` and equal its count. */
function checkHistogram(family: string, samples: readonly Sample[]): void {
  const series = new Map<string, { bounds: [number, number][]; count?: number }>();
  for (const sample of samples) {
    const { le, ...labels } = sample.labels;
    const key = keyOf({ name: family, labels });
    const entry = series.get(key) ?? { bounds: [] };
    series.set(key, entry);
    if (sample.name.endsWith('_bucket')) entry.bounds.push([parseValue(le ?? ''), sample.value]);
    if (sample.name.endsWith('_count')) entry.count = sample.value;
  }
  for (const [key, { bounds, count }] of series) {
    for (const [index, [bound, value]] of bounds.entries()) {
      const [previousBound, previous] = bounds[index - 1] ?? [Number.NEGATIVE_INFINITY, 0];
      if (bound <= previousBound || value < previous) throw new Error(`buckets out of order: ${key}`);
    }
    const last = bounds.at(-1);
    if (last?.[0] !== Number.POSITIVE_INFINITY || last[1] !== count)
      throw new Error(`no +Inf bucket: ${key}`);
  }
}

/** @throws at the first line that Prometheus would not take, or that breaks its naming conventions */
export function parseExposition(text: string): Exposition {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const families = new Map<string, string>();
  const helped = new Set<string>();
  const samples = new Map<string, Sample>();
  const byFamily = new Map<string, Sample[]>();
  let family = '';
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('#')) {
      const [, kind, name = '', rest = ''] = COMMENT.exec(line) ?? [];
      if (kind === undefined) throw new Error(`no comment: ${line}`);
      if (byFamily.has(name)) throw new Error(`family twice: ${name}`);
      if (kind === 'HELP') {
        if (helped.has(name)) throw new Error(`HELP twice: ${name}`);
        helped.add(name);
      } else {
        if (families.has(name) || !TYPES.has(rest)) throw new Error(`TYPE twice or unknown: ${line}`);
        if (rest === 'counter' && !name.endsWith('_total')) throw new Error(`a counter's name: ${name}`);
        families.set(name, rest);
        family = name;
      }
      continue;
    }
    const [, name, labelText = '', valueText = ''] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`no sample: ${line}`);
    const allowed = SUFFIXES[families.get(family) ?? ''] ?? [''];
    if (!allowed.some((suffix) => name === family + suffix))
      throw new Error(`outside of its family: ${line}`);
    const sample = { name, labels: parseLabels(labelText), value: parseValue(valueText) };
    if (samples.has(keyOf(sample))) throw new Error(`series twice: ${line}`);
    samples.set(keyOf(sample), sample);
    byFamily.set(family, [...(byFamily.get(family) ?? []), sample]);
  }
  for (const [name, type] of families) {
    if (!helped.has(name)) throw new Error(`no HELP: ${name}`);
    if (type === 'histogram') checkHistogram(name, byFamily.get(name) ?? []);
  }
  const labels = new Map<string, readonly [string, string]>();
  for (const sample of samples.values()) {
    for (const entry of Object.entries(sample.labels)) labels.set(entry.join('='), entry);
  }
  return {
    value: (name, wanted = {}) => samples.get(keyOf({ name, labels: wanted }))?.value,
    families,
    labels: [...labels.values()],
    samples: [...samples.values()],
  };
}

/** Reads /metrics as Prometheus does. */
export async function scrape(url: string): Promise<Exposition> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${url}: ${response.status}`);
  return parseExposition(await response.text());
}
