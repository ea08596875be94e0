import { describe, expect, it } from 'vitest';
import { checkStructure } from '../../src/document/translation/checks/structure.ts';
import { createPseudoProvider } from '../../src/providers/pseudo.ts';
import { type TranslatedSegment, translateSegments } from '../../src/providers/translate.ts';
import {
  ProviderError,
  type TranslationProvider,
  type TranslationRequest,
  type TranslationText,
} from '../../src/providers/types.ts';

/** Answers each call from a list and records what was asked. */
function scripted(...answers: (Record<string, string> | Error)[]) {
  const calls: Pick<TranslationRequest, 'segments' | 'repair'>[] = [];
  const provider: TranslationProvider = {
    name: 'scripted',
    async translate({ segments, repair }) {
      calls.push({ segments, ...(repair ? { repair } : {}) });
      const answer = answers[calls.length - 1] ?? {};
      if (answer instanceof Error) throw answer;
      return new Map(Object.entries(answer));
    },
  };
  return { provider, calls };
}

const segments: TranslationText[] = [
  { id: 'one', kind: 'paragraph', text: 'Read <a id="1">this</a>.' },
  { id: 'two', kind: 'paragraph', text: 'Plain words.' },
];
const request = (signal = new AbortController().signal, targetLanguage = 'de') => ({
  sourceLanguage: 'en',
  targetLanguage,
  segments,
  signal,
});
const good = { one: 'Lies <a id="1">dies</a>.', two: 'Einfache Worte.' };

describe('asking a provider', () => {
  it('asks once when every answer is usable and ignores ids nobody asked for', async () => {
    const { provider, calls } = scripted({ ...good, three: 'x' });
    expect(await translateSegments(provider, request())).toEqual(new Map(Object.entries(good)));
    expect(calls).toEqual([{ segments }]);
  });

  it('asks again for the unusable ones with the exact defect, then alone', async () => {
    const { provider, calls } = scripted(
      { one: 'Lies dies.' },
      { one: 'Lies <a id="1">dies</a> <a id="1">dies</a>.', two: good.two },
      { one: good.one },
    );
    expect(await translateSegments(provider, request())).toEqual(new Map(Object.entries(good)));
    expect(calls[1]).toEqual({
      segments,
      repair: [
        { id: 'one', previous: 'Lies dies.', defects: ['the tag <a id="1"> is missing'] },
        { id: 'two', previous: null, defects: ['there is no translation for this id'] },
      ],
    });
    expect(calls[2]).toMatchObject({
      segments: [segments[0]],
      repair: [{ id: 'one', defects: ['the tag <a id="1"> occurs more than once'] }],
    });
  });

  it('gives up with the segment and its defect', async () => {
    const { provider, calls } = scripted({ ...good, two: '' }, { two: ' ' }, { two: '\n' });
    const error = await translateSegments(provider, request()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({
      kind: 'unusable',
      message:
        'scripted gave no usable translation of two: the translation is empty. Nothing was charged. Start it again; if it fails again, reword or shorten that text.',
    });
    expect(calls).toHaveLength(3);
  });

  // contract.md V21
  it('takes the better of two answers, and tells what was repaired and what is accepted', async () => {
    const kept = new Map<string, TranslatedSegment>();
    const texts = [
      { id: 'a', kind: 'paragraph' as const, text: 'It took 12 days and 30 km.' },
      { id: 'b', kind: 'paragraph' as const, text: 'It took 14 days.' },
    ];
    const { provider, calls } = scripted(
      { a: 'Es dauerte 12 Tage und 31 km.', b: 'Es dauerte 15 Tage.' },
      { a: '"Es dauerte 21 Tage und 30 Meilen."', b: 'Es dauerte 14 Tage.' },
    );
    await translateSegments(provider, {
      ...request(),
      segments: texts,
      keep: async (made) => {
        for (const [id, one] of made) kept.set(id, one);
      },
    });
    expect(calls).toHaveLength(2);
    const numbers = (message: string) => [{ code: 'numbers', message, soft: true }];
    expect(Object.fromEntries(kept)).toEqual({
      a: {
        text: 'Es dauerte 12 Tage und 31 km.',
        outcome: 'accepted',
        defects: numbers('the numbers differ: "30" of the text is missing; "31" is not in the text'),
      },
      b: {
        text: 'Es dauerte 14 Tage.',
        outcome: 'repaired',
        defects: numbers('the numbers differ: "14" of the text is missing; "15" is not in the text'),
      },
    });
  });

  it('leaves what nothing usable comes for, if the article can do without it', async () => {
    const kept = new Map<string, TranslatedSegment>();
    const { provider, calls } = scripted({ ...good, two: '' }, { two: ' ' }, { two: '' });
    const answers = await translateSegments(provider, {
      ...request(),
      mayLeave: async ({ id }) => id === 'two',
      keep: async (made) => {
        for (const [id, one] of made) kept.set(id, one);
      },
    });
    expect([...answers.keys()]).toEqual(['one']);
    expect(calls).toHaveLength(3);
    expect(kept.get('two')).toMatchObject({ text: null, outcome: 'left', defects: [{ code: 'empty' }] });
  });

  // contract.md V21
  it('does not ask an engine again that cannot be told what is wrong, for what can be used', async () => {
    const { provider, calls } = scripted({ one: good.one, two: 'Einfache 12 Worte.' }, { one: good.one });
    const answers = await translateSegments({ ...provider, repairs: false }, request());
    expect([answers.get('two'), calls.length]).toEqual(['Einfache 12 Worte.', 1]);
  });

  it('passes on what the provider throws and stops when aborted', async () => {
    const failure = new ProviderError('retryable', 'busy', { retryAfterMs: 5 });
    await expect(translateSegments(scripted(failure).provider, request())).rejects.toBe(failure);
    await expect(translateSegments(scripted({ one: 'x' }, failure).provider, request())).rejects.toBe(
      failure,
    );
    const stopped = scripted(good);
    const reason = new Error('stop');
    await expect(translateSegments(stopped.provider, request(AbortSignal.abort(reason)))).rejects.toBe(
      reason,
    );
    expect(stopped.calls).toHaveLength(0);
  });

  describe('that declines some texts', () => {
    const declined = new ProviderError('refused', 'declined');
    /** Declines whatever has a text that it does not like. */
    function declining(disliked: readonly string[]) {
      const asked: string[][] = [];
      const provider: TranslationProvider = {
        name: 'declining',
        async translate({ segments }) {
          asked.push(segments.map(({ id }) => id));
          if (segments.some(({ id }) => disliked.includes(id))) throw declined;
          return new Map(segments.map(({ id }) => [id, `Wort ${id}`]));
        },
      };
      return { provider, asked };
    }
    const texts = [...'abcdefgh'].map((id) => ({ id, kind: 'heading' as const, text: `Word ${id}` }));
    const recorder = () => {
      const kept = new Map<string, TranslatedSegment>();
      const keep = async (made: ReadonlyMap<string, TranslatedSegment>) => {
        for (const [id, one] of made) kept.set(id, one);
      };
      return { kept, keep };
    };

    // contract.md V27
    it('asks for the others in halves, and leaves what is declined alone', async () => {
      const { provider, asked } = declining(['b']);
      const { kept, keep } = recorder();
      const leaving: [string, boolean][] = [];
      const answers = await translateSegments(provider, {
        ...request(),
        segments: texts,
        keep,
        mayLeave: async ({ id }, isDeclined) => leaving.push([id, isDeclined]) > 0,
      });
      expect([...answers.keys()].join('')).toBe('acdefgh');
      expect(asked.map((ids) => ids.join(''))).toEqual(['abcdefgh', 'abcd', 'ab', 'a', 'b', 'cd', 'efgh']);
      expect(leaving).toEqual([['b', true]]);
      expect(kept.get('b')).toMatchObject({ text: null, outcome: 'left', defects: [{ code: 'refused' }] });
      expect(kept.get('c')).toMatchObject({ outcome: 'clean' });
    });

    it('fails with the text that cannot be left, and keeps what came before', async () => {
      const { provider } = declining(['f']);
      const { kept, keep } = recorder();
      const failure = translateSegments(provider, { ...request(), segments: texts, keep });
      await expect(failure).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringMatching(/declines to translate too many texts, the last of them f\. Nothing/),
      });
      expect([...kept.keys()].join('')).toBe('abcde');
    });

    it('takes what it had answered before it declined the repair', async () => {
      const text = 'It took 12 days.';
      const { provider, calls } = scripted({ n: 'Es dauerte 21 Tage.' }, declined);
      const { kept, keep } = recorder();
      await translateSegments(provider, {
        ...request(),
        segments: [{ id: 'n', kind: 'paragraph', text }],
        keep,
      });
      expect(calls).toHaveLength(2);
      expect(kept.get('n')).toMatchObject({ text: 'Es dauerte 21 Tage.', outcome: 'accepted' });
    });
  });

  it('asks once more when a long text comes back as it was, and then takes it', async () => {
    const text = 'One two three four five six seven eight nine.';
    const echo = (targetLanguage: string) => {
      const { provider, calls } = scripted({ a: text }, { a: 'broken <b>' }, { a: 'broken <b>' });
      const result = translateSegments(provider, {
        ...request(undefined, targetLanguage),
        segments: [{ id: 'a', kind: 'paragraph', text }],
      });
      return result.then((answers) => [answers.get('a'), calls.length]);
    };
    expect(await echo('de')).toEqual([text, 3]);
    expect(await echo('en-GB')).toEqual([text, 1]);
  });
});

describe('checking a segment', () => {
  const source = 'A &lt; <b id="1">bold <x id="2"/></b> and <a id="3">link</a>.';
  const codes = (translated: string) => checkStructure(source, translated).map(({ code }) => code);

  it('accepts reordered and differently written tags, entities and bare signs', () => {
    expect(codes('<a id="3">Verweis</a> &amp; < 5 & <B id=\'1\'><x id="2"></x> fett</B>')).toEqual([]);
  });

  it.each([
    ['a dropped tag', 'x <b id="1">y <x id="2"/></b>', 'tags'],
    ['a new tag', `${source}<i id="9">z</i>`, 'tags'],
    ['a changed id', source.replace('id="3"', 'id="4"'), 'tags'],
    ['an emptied tag', source.replace('>link<', '> <'), 'tags'],
    ['text in an empty tag', source.replace('<x id="2"/>', '<x id="2">z</x>'), 'tags'],
    ['a tag that stays open', source.replace('</a>', ''), 'markup'],
    ['crossing tags', '<b id="1">a <a id="3">b <x id="2"/></b></a>', 'markup'],
    ['foreign markup', `${source}<br>`, 'markup'],
    ['a lost id', source.replace(' id="3"', ''), 'markup'],
    ['nothing but tags', '<b id="1"><x id="2"/></b><a id="3"></a>', 'empty'],
    ['a NUL character', `${source}\0`, 'characters'],
    ['a lone surrogate', `${source}\udc00`, 'characters'],
    ['an endless answer', source + 'x'.repeat(2000), 'length'],
  ])('refuses %s', (_, translated, code) => {
    expect(codes(translated)).toContain(code);
  });

  it('refuses a tag inside its own kind unless the source has it', () => {
    const two = '<i id="1">a</i> <i id="2">b</i>';
    expect(checkStructure(two, '<i id="1">a <i id="2">b</i></i>')[0]?.code).toBe('nesting');
    expect(checkStructure('<a id="1">a <a id="2">b</a></a>', '<a id="1">c <a id="2">d</a></a>')).toEqual([]);
  });
});

describe('the pseudo provider', () => {
  it('accents letters, marks every text and leaves tags and references alone, the same way every time', async () => {
    const provider = createPseudoProvider();
    expect(provider.name).toBe('pseudo');
    const texts = ['Ab &amp; <a id="1">cd</a><x id="2"/>', '日本語', 'مرحبا', '42'];
    const ask = () =>
      provider.translate({
        ...request(),
        segments: texts.map((text, index) => ({ id: String(index), kind: 'paragraph', text })),
      });
    const answers = await ask();
    expect([...answers.values()]).toEqual([
      '⟦Åƀ &amp; <a id="1">çð</a><x id="2"/>⟧',
      '⟦日本語⟧',
      '⟦مرحبا⟧',
      '⟦42⟧',
    ]);
    expect(await ask()).toEqual(answers);
  });
});
