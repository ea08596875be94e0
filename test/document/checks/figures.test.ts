import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { DefectCode } from '../../../src/document/translation/checks/defects.ts';
import { checkSegment } from '../../../src/document/translation/checks/segment.ts';
import { DAMAGES, factsOf, SAMPLES } from './damage.ts';
import { declarations, TARGETS } from './udhr.ts';

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

/** Share of damaged texts that are found, by kind of damage. */
const found = DAMAGES.map(({ what, code, facts, pair }) => {
  const missed: string[] = [];
  let all = 0;
  for (const [index, sample] of SAMPLES.entries()) {
    const damaged = pair(sample, index);
    if (damaged === null) continue;
    all += 1;
    const defects = checkSegment(...damaged, { ...factsOf(sample.language), ...facts });
    if (!defects.some((defect) => defect.code === code)) missed.push(`${sample.language}: ${damaged[1]}`);
  }
  return { what, code, all, missed, recall: (all - missed.length) / all };
});

/** Alarms about translations by people, by check and language. */
const alarms = new Map<string, { count: number; all: number; texts: string[] }>();
const codes = new Set<DefectCode>(DAMAGES.map(({ code }) => code));
for (const { language, source, target } of SAMPLES) {
  const defects = checkSegment(source, target, factsOf(language));
  for (const code of codes) {
    const key = `${code} ${language}`;
    const cell = alarms.get(key) ?? { count: 0, all: 0, texts: [] };
    const defect = defects.find((each) => each.code === code);
    alarms.set(key, {
      count: cell.count + (defect === undefined ? 0 : 1),
      all: cell.all + 1,
      texts: defect === undefined ? cell.texts : [...cell.texts, `${defect.message}: ${source} = ${target}`],
    });
  }
}

const NUMBERS = ['none', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** What a check finds, as the page says it. */
const told = [...codes].map((code) => {
  const kinds = found.filter((each) => each.code === code);
  const least = Math.min(...kinds.map(({ recall }) => recall));
  const all = kinds.reduce((sum, kind) => sum + kind.all, 0).toLocaleString('en');
  const share =
    least === 1
      ? `100 % of ${all}`
      : `${(Math.floor(least * 1_000) / 10).toFixed(1)} % and more of each of ${NUMBERS[kinds.length]}`;
  return { code, share };
});

describe('the checks of translations', () => {
  it('are told with their figures in the pages', () => {
    const page = readFileSync(new URL('../../../docs/translation-quality.md', import.meta.url), 'utf8');
    const cells = page.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
    const shares = told.map(({ code }) => ({
      code,
      share: cells.find((row) => row[1] === `\`${code}\``)?.[4],
    }));
    expect(shares).toEqual(told);
  });

  // contract.md V20
  it('find each of 28 kinds of damage and more in 500 texts, 98 times in a hundred', () => {
    expect(SAMPLES).toHaveLength(500);
    expect(DAMAGES.length).toBeGreaterThanOrEqual(28);
    for (const { what, code, all, recall, missed } of found) {
      if (process.env.PRINT_FIGURES !== undefined)
        console.log(`${code}\t${what}\t${all}\t${percent(recall)}\t${missed[0] ?? ''}`);
      expect.soft(recall, `${code}, ${what}: ${missed.slice(0, 3).join('\n')}`).toBeGreaterThanOrEqual(0.98);
    }
  });

  // contract.md V20
  it('are wrong about at most one in fifty translations by people, each check in each language', () => {
    for (const [key, { count, all, texts }] of alarms) {
      if (process.env.PRINT_FIGURES !== undefined && count > 0)
        console.log(`${key}\t${count} of ${all}\t${texts.join('\n\t')}`);
      expect.soft(count / all, `${key}: ${texts.join('\n')}`).toBeLessThanOrEqual(0.02);
    }
    expect(alarms.size).toBe(codes.size * TARGETS.length);
  });

  // contract.md V20
  it('are wrong about at most one in fifty translations into all languages that they detect, and never hard', () => {
    let all = 0;
    const alarms: string[] = [];
    const hard: string[] = [];
    const languages = new Set<string>();
    for (const { code, language, pairs } of declarations()) {
      languages.add(language.split('-', 1).join(''));
      const before = alarms.length;
      for (const { source, target } of pairs) {
        all += 1;
        const defects = checkSegment(source, target, {
          kind: 'paragraph',
          sourceLanguage: 'en',
          targetLanguage: language,
          glossary: [],
          pseudo: false,
        });
        const found = `${code}: ${defects.map(({ message }) => message).join('; ')}: ${source} = ${target}`;
        if (defects.length > 0) alarms.push(found);
        if (defects.some(({ soft }) => !soft)) hard.push(found);
      }
      const share = (alarms.length - before) / pairs.length;
      expect.soft(share, alarms.slice(before).join('\n')).toBeLessThanOrEqual(0.04);
    }
    if (process.env.PRINT_FIGURES !== undefined)
      console.log(`${alarms.length} of ${all} in ${languages.size} languages\n${alarms.join('\n')}`);
    expect(hard).toEqual([]);
    expect(languages.size).toBeGreaterThanOrEqual(55);
    expect(alarms.length / all, alarms.join('\n')).toBeLessThanOrEqual(0.02);
  });
});
