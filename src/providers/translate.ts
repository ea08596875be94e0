/**
 * Asking a provider until every segment is usable: batch, repair with the exact defects, alone, left. What it declines
 * is asked for in halves, down to the texts that it declines alone.
 */
import { type Defect, type DefectCode, hard, untranslated } from '../document/translation/checks/defects.ts';
import { ECHO, echoedAmong } from '../document/translation/checks/language.ts';
import { checkSegment } from '../document/translation/checks/segment.ts';
import { wordsOf } from '../document/translation/checks/text.ts';
import type { Outcome } from '../document/translation/report.ts';
import {
  ProviderError,
  type RepairNote,
  type TranslationProvider,
  type TranslationRequest,
  type TranslationText,
} from './types.ts';

/** What became of a segment. */
export interface Made {
  /** Null when it is left. */
  readonly text: string | null;
  readonly outcome: Outcome;
  /** What was repaired, or is still wrong. */
  readonly defects: readonly Defect[];
}

export interface TranslateSegmentsRequest extends Omit<TranslationRequest, 'repair'> {
  /** Called with what is done as soon as it is, so that a later failure does not cost it. */
  readonly keep?: (made: ReadonlyMap<string, Made>) => Promise<void>;
  /** Whether the article can do without a translation of a text, one that was declined or not; without this it never can. */
  readonly mayLeave?: (segment: TranslationText, declined: boolean) => Promise<boolean>;
}

/** What is known about a segment after an answer. */
interface Attempt {
  readonly segment: TranslationText;
  readonly answer: string | null;
  readonly defects: readonly Defect[];
}

/** Of a text that is declined alone: to ask again changes nothing. */
const DECLINED = hard('refused', 'the engine declines to translate it');

/**
 * Translates the segments and checks each one. Unusable answers are asked for again together, with what is wrong;
 * what is still unusable is asked for one by one, and then left. An answer with only soft defects is accepted after one
 * repair. When the provider declines some texts, the others are translated, and those are left.
 * @returns the translations by segment id; one that is left has none
 * @throws ProviderError as the provider threw it, or naming a segment that cannot be left, `refused` when that is
 *   declined, else `fatal`. The signal's reason when aborted.
 */
export async function translateSegments(
  provider: TranslationProvider,
  request: TranslateSegmentsRequest,
): Promise<Map<string, string>> {
  const done = new Map<string, string>();
  if (request.segments.length === 0) return done;
  const { keep, mayLeave, ...asked } = request;
  /** Answers, all at once, or piece by piece where some are declined. */
  const ask = async function* (
    segments: readonly TranslationText[],
    before: readonly Attempt[],
  ): AsyncGenerator<Attempt[]> {
    asked.signal.throwIfAborted();
    const repair = before.filter(({ segment }) => segments.includes(segment)).map(repairNote);
    try {
      const answers = await provider.translate({
        ...asked,
        segments,
        ...(repair.length > 0 ? { repair } : {}),
      });
      const attempts = segments.map((segment) => ({ segment, answer: answers.get(segment.id) ?? null }));
      yield judge(attempts, before, { ...asked, pseudo: provider.name === 'pseudo' });
      return;
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== 'refused') throw error;
    }
    if (segments.length === 1) {
      yield segments.map((segment) => ({ segment, answer: null, defects: [DECLINED] }));
      return;
    }
    const half = Math.ceil(segments.length / 2);
    for (const part of [segments.slice(0, half), segments.slice(half)]) yield* ask(part, before);
  };
  const askAlone = async (attempt: Attempt): Promise<Attempt> => {
    const { value } = await ask([attempt.segment], [attempt]).next();
    return value?.[0] ?? attempt;
  };
  const take = async (made: ReadonlyMap<string, Made>): Promise<void> => {
    for (const [id, { text }] of made) if (text !== null) done.set(id, text);
    if (made.size > 0) await keep?.(made);
  };
  const leave = async (attempt: Attempt): Promise<void> => {
    const { segment, defects } = attempt;
    const declined = isDeclined(attempt);
    if (!(await mayLeave?.(segment, declined))) throw (declined ? refusal : unusable)(provider, attempt);
    await take(new Map([[segment.id, { text: null, outcome: 'left', defects }]]));
  };

  const repairs = provider.repairs ?? true;
  const wrong: Attempt[] = [];
  for await (const attempts of ask(request.segments, [])) {
    const fine = attempts.filter(
      ({ defects }) => defects.length === 0 || (!repairs && defects.every(isSoft)),
    );
    await take(made(fine, (attempt) => accepted(attempt, [])));
    for (const attempt of attempts.filter(isDeclined)) await leave(attempt);
    wrong.push(...attempts.filter((attempt) => !fine.includes(attempt) && !isDeclined(attempt)));
  }
  if (wrong.length === 0) return done;

  const firstOf = new Map(wrong.map((attempt) => [attempt.segment.id, attempt]));
  const stubborn: Attempt[] = [];
  for await (const attempts of ask(segmentsOf(wrong), wrong)) {
    await take(
      made(attempts.filter(isUsable), (attempt) =>
        accepted(better(firstOf.get(attempt.segment.id), attempt), firstOf.get(attempt.segment.id)?.defects),
      ),
    );
    stubborn.push(...attempts.filter((each) => !isUsable(each)));
  }
  for (const attempt of stubborn) {
    const { segment } = attempt;
    const last = isDeclined(attempt) ? attempt : await askAlone(attempt);
    const usable = [last, firstOf.get(segment.id)].find((each) => each !== undefined && isUsable(each));
    if (usable === undefined) await leave(last);
    else await take(made([usable], (each) => accepted(each, attempt.defects)));
  }
  return done;
}

/** Checks answers one by one, then together; one that is as it was before has the defects that it had. */
function judge(
  attempts: readonly Omit<Attempt, 'defects'>[],
  before: readonly Attempt[],
  facts: Pick<TranslationRequest, 'sourceLanguage' | 'targetLanguage' | 'context'> & { pseudo: boolean },
): Attempt[] {
  const earlier = new Map(before.map((attempt) => [attempt.segment.id, attempt]));
  const judged = attempts.map(({ segment, answer }): Attempt => {
    if (answer === null) {
      return { segment, answer, defects: [hard('missing', 'there is no translation for this id')] };
    }
    const same = earlier.get(segment.id);
    if (same?.answer === answer) return same;
    const { kind } = segment;
    const glossary = facts.context?.glossary ?? [];
    return { segment, answer, defects: checkSegment(segment.text, answer, { ...facts, kind, glossary }) };
  });
  const usable = judged.filter(isUsable);
  const pairs = usable.map(({ segment, answer }) => ({
    source: wordsOf(segment.text),
    translated: wordsOf(answer ?? ''),
  }));
  const echoed = new Set(facts.pseudo ? [] : echoedAmong(pairs, facts).map((index) => usable[index]));
  return judged.map((attempt) =>
    echoed.has(attempt) && attempt.defects.every(({ code }) => code !== 'echo')
      ? { ...attempt, defects: [...attempt.defects, untranslated('echo', ECHO)] }
      : attempt,
  );
}

const isSoft = (defect: Defect): boolean => defect.soft;
const isUsable = ({ answer, defects }: Attempt): boolean => answer !== null && defects.every(isSoft);
const isDeclined = ({ defects }: Attempt): boolean => defects.includes(DECLINED);

const made = (attempts: readonly Attempt[], of: (attempt: Attempt) => Made): Map<string, Made> =>
  new Map(attempts.map((attempt) => [attempt.segment.id, of(attempt)]));

/** An answer as it is taken; `before` is what was wrong with the first. */
const accepted = ({ answer, defects }: Attempt, before: readonly Defect[] = []): Made =>
  defects.length > 0
    ? { text: answer, outcome: 'accepted', defects }
    : { text: answer, outcome: before.length > 0 ? 'repaired' : 'clean', defects: before };

/** Of two answers the one with fewer defects; a repair that repaired nothing is as good as what it came from. */
const better = (first: Attempt | undefined, second: Attempt): Attempt =>
  first !== undefined && isUsable(first) && first.defects.length < second.defects.length ? first : second;

function segmentsOf(attempts: readonly Attempt[]): TranslationText[] {
  return attempts.map(({ segment }) => segment);
}

function repairNote({ segment, answer, defects }: Attempt): RepairNote {
  return { id: segment.id, previous: answer, defects: defects.map(({ message }) => message) };
}

/** Defects for people, without a word of the article: failures are kept in Temporal. */
const WHAT_IS_WRONG: Readonly<Record<DefectCode, string>> = {
  missing: 'there is no translation',
  refused: 'the engine declines to translate it',
  empty: 'the translation is empty',
  characters: 'the translation has broken characters',
  markup: 'the translation has broken markup',
  tags: 'links or emphasis were lost or doubled',
  nesting: 'links or emphasis were put into each other',
  length: 'the translation is far too short or far too long',
  numbers: 'the numbers differ',
  units: 'the units differ',
  chatter: 'there are remarks around the translation',
  echo: 'the text came back untranslated',
  language: 'the translation is in another language',
  script: 'the translation is in another script',
  limit: 'the translation is too long for its field',
  glossary: 'terms of the glossary are missing',
};

function unusable({ name }: TranslationProvider, { segment, defects }: Attempt): ProviderError {
  const what = [...new Set(defects.filter(({ soft }) => !soft).map(({ code }) => WHAT_IS_WRONG[code]))].join(
    '; ',
  );
  return new ProviderError(
    'fatal',
    `${name} gave no usable translation of ${segment.id}: ${what}. Nothing was charged. Start it again; if it fails again, reword or shorten that text.`,
  );
}

const refusal = ({ name }: TranslationProvider, { segment }: Attempt): ProviderError =>
  new ProviderError(
    'refused',
    `${name} declines to translate too many texts, the last of them ${segment.id}. Nothing was charged. Reword what the report of this job names, then start it again.`,
  );
