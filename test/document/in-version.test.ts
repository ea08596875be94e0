import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Block } from '../../src/document/format/schema.ts';
import { textsInVersion } from '../../src/document/refresh/in-version.ts';
import { planRefresh, segmentsToSend } from '../../src/document/refresh/plan.ts';
import { unitsOf } from '../../src/document/refresh/units.ts';
import { boundInVersion, planTexts } from '../../src/document/translation/planned.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import '../support/fast-check.ts';
import { anySource, edit, edits, NOTHING, parsedOnce, translateNew, type Version } from './versions.ts';
import { article, paragraph, withBlock } from './world.ts';

/** What an engine is given of the version with each text that a refresh sends, by the text. */
function given(before: Snapshot, after: Snapshot, version: Version, units?: ['block:list']) {
  const { partial, kept, languages } = planRefresh(after, version.content, version.provenance, {
    apply: 'untouched',
    proposed: [],
    units,
  });
  const oldSources = Object.fromEntries([...unitsOf(before)].map(([key, { value }]) => [key, value]));
  const texts = textsInVersion(after, partial, { ...version, oldSources });
  const segments = segmentsToSend({ partial, kept, languages });
  return planTexts(segments, after, partial, null, texts).segments;
}

const list = (...items: string[]): Block => ({ id: 'list', type: 'list', ordered: false, items });
const shown = pseudoLocalize;

// contract.md V57
it('finds what stands for an item, and what that was translated from, beside items that came, went and were edited', () => {
  const before = article([
    paragraph('p', 'Before it.'),
    list('First one', 'Second one', 'Third one'),
    paragraph('q', 'After it.'),
  ]);
  const version = translateNew(before);
  const edited = { ...list(shown('First one'), 'Wording of a person', shown('Third one')) };
  const own: Version = { ...version, content: withBlock(version.content, edited) };
  const changed = withBlock(before, list('New first one', 'First one', 'Second one, changed', 'Third one'));
  expect(given(before, changed, own).map(({ text, inVersion }) => [text, inVersion])).toEqual([
    ['New first one', { before: shown('Before it.'), after: shown('First one') }],
    [
      'Second one, changed',
      {
        oldSource: 'Second one',
        current: 'Wording of a person',
        before: shown('First one'),
        after: shown('Third one'),
      },
    ],
  ]);
  const same = withBlock(before, list('First one', 'Second one, changed', 'Third one'));
  expect(given(before, same, own)[0]?.inVersion).toEqual({
    oldSource: 'Second one',
    current: 'Wording of a person',
    before: shown('First one'),
    after: shown('Third one'),
  });
  // Named units are translated again because somebody wants other words.
  for (const { inVersion } of given(before, before, own, ['block:list'])) {
    expect(inVersion).not.toHaveProperty('current');
  }
});

// contract.md V57
it('shows code and the title of a link as they are read, and knows no old source where none is kept', () => {
  const text = (verb: string) =>
    `${verb} \`npm test\` and [the page](https://example.org/a "Its ${verb} title").`;
  const block = (verb: string): Block => ({
    id: 'm',
    type: 'paragraph',
    format: 'markdown',
    text: text(verb),
  });
  const before = article([block('Run')]);
  const version = translateNew(before);
  const found = given(before, article([block('Start')]), version).map(({ inVersion }) => inVersion);
  expect(found).toEqual([
    { oldSource: 'Run npm test and the page.', current: expect.stringContaining('npm test') },
    { oldSource: 'Its Run title', current: shown('Its Run title') },
  ]);
  const unknown = given(NOTHING, article([block('Start')]), version).map(({ inVersion }) => inVersion);
  expect(unknown[1]).toEqual({ current: shown('Its Run title') });
});

// contract.md V58
it('never gives more than three times the texts of a request, whatever was edited, and what stands there first', () => {
  fc.assert(
    parsedOnce(anySource, edits(5), edits(4), (source, inSource, inVersion) => {
      const made = translateNew(source);
      const version = { ...made, content: edit(made.content, inVersion, 'own') };
      const segments = given(source, edit(source, inSource, 'source'), version);
      const found = boundInVersion(segments.map((each) => ({ ...each, inVersion: each.inVersion ?? null })));
      const sum = (texts: readonly string[]) => texts.reduce((total, text) => total + text.length, 0);
      const context = [...found.values()].flatMap((each) => Object.values(each));
      expect(sum(context)).toBeLessThanOrEqual(3 * sum(segments.map(({ text }) => text)));
      const isShort = segments.every(
        ({ text, inVersion: { current = '' } = {} }) => current.length <= 3 * text.length,
      );
      for (const { key, inVersion } of segments) {
        if (isShort && segments.length === 1) expect(found.get(key)?.current).toBe(inVersion?.current);
      }
    }),
    { numRuns: 50 },
  );
});
