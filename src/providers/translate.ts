/**
 * Requests translations until every segment has a usable one or is skipped: the batch, then a repair with the exact
 * defects, then each segment alone. A declined batch is halved until the declined texts are isolated.
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

/** The result for one segment. */
export interface TranslatedSegment {
  /** Null when it is skipped. */
  readonly text: string | null;
  readonly outcome: Outcome;
  /** The repaired or remaining defects. */
  readonly defects: readonly Defect[];
}

export interface TranslateSegmentsRequest extends Omit<TranslationRequest, 'repair'> {
  /** Stores finished segments early, so that a later failure does not lose them. */
  readonly keep?: (made: ReadonlyMap<string, TranslatedSegment>) => Promise<void>;
  /** Whether a text may be skipped, given whether it was declined; by default never. */
  readonly mayLeave?: (segment: TranslationText, declined: boolean) => Promise<boolean>;
}

/** The response for one segment. */
interface Attempt {
  readonly segment: TranslationText;
  readonly translation: string | null;
  readonly defects: readonly Defect[];
}

/** Defect of a text that is declined alone. It is not retried. */
const DECLINED = hard('refused', 'the engine declines to translate it');

/**
 * Translates and checks the segments. Unusable translations are repaired together, with their defects, then one by one,
 * and then skipped. A translation with only soft defects is accepted after one repair. Declined texts are skipped; the
 * others are still translated.
 * @returns the translations by segment id, without skipped segments
 * @throws ProviderError as the provider threw it, or naming a segment that may not be skipped: `refused` when it was
 *   declined, else `unusable`. The signal's reason when aborted.
 */
export async function translateSegments(
  provider: TranslationProvider,
  request: TranslateSegmentsRequest,
): Promise<Map<string, string>> {
  const done = new Map<string, string>();
  if (request.segments.length === 0) return done;
  const { keep, mayLeave, ...common } = request;
  /** Yields all attempts at once, or in parts when some texts are declined. */
  const attempt = async function* (
    segments: readonly TranslationText[],
    before: readonly Attempt[],
  ): AsyncGenerator<Attempt[]> {
    common.signal.throwIfAborted();
    const repair = before.filter(({ segment }) => segments.includes(segment)).map(repairNote);
    try {
      const translations = await provider.translate({
        ...common,
        segments,
        ...(repair.length > 0 ? { repair } : {}),
      });
      const attempts = segments.map((segment) => ({
        segment,
        translation: translations.get(segment.id) ?? null,
      }));
      yield check(attempts, before, { ...common, pseudo: provider.name === 'pseudo' });
      return;
    } catch (error) {
      if (!(error instanceof ProviderError) || error.kind !== 'refused') throw error;
    }
    if (segments.length === 1) {
      yield segments.map((segment) => ({ segment, translation: null, defects: [DECLINED] }));
      return;
    }
    const half = Math.ceil(segments.length / 2);
    for (const part of [segments.slice(0, half), segments.slice(half)]) yield* attempt(part, before);
  };
  const repairAlone = async (last: Attempt): Promise<Attempt> => {
    const { value } = await attempt([last.segment], [last]).next();
    return value?.[0] ?? last;
  };
  const take = async (made: ReadonlyMap<string, TranslatedSegment>): Promise<void> => {
    for (const [id, { text }] of made) if (text !== null) done.set(id, text);
    if (made.size > 0) await keep?.(made);
  };
  const skip = async (attempt: Attempt): Promise<void> => {
    const { segment, defects } = attempt;
    const declined = isDeclined(attempt);
    if (!(await mayLeave?.(segment, declined))) throw (declined ? refusal : unusable)(provider, attempt);
    await take(new Map([[segment.id, { text: null, outcome: 'left', defects }]]));
  };

  const repairs = provider.repairs ?? true;
  const wrong: Attempt[] = [];
  for await (const attempts of attempt(request.segments, [])) {
    const fine = attempts.filter(
      ({ defects }) => defects.length === 0 || (!repairs && defects.every(isSoft)),
    );
    await take(byId(fine, (each) => accepted(each, [])));
    for (const declined of attempts.filter(isDeclined)) await skip(declined);
    wrong.push(...attempts.filter((each) => !fine.includes(each) && !isDeclined(each)));
  }
  if (wrong.length === 0) return done;

  const firstOf = new Map(wrong.map((each) => [each.segment.id, each]));
  const stubborn: Attempt[] = [];
  for await (const attempts of attempt(segmentsOf(wrong), wrong)) {
    await take(
      byId(attempts.filter(isUsable), (each) =>
        accepted(better(firstOf.get(each.segment.id), each), firstOf.get(each.segment.id)?.defects),
      ),
    );
    stubborn.push(...attempts.filter((each) => !isUsable(each)));
  }
  for (const repaired of stubborn) {
    const { segment } = repaired;
    const last = isDeclined(repaired) ? repaired : await repairAlone(repaired);
    const usable = [last, firstOf.get(segment.id)].find((each) => each !== undefined && isUsable(each));
    if (usable === undefined) await skip(last);
    else await take(byId([usable], (each) => accepted(each, repaired.defects)));
  }
  return done;
}

/** Checks translations one by one, then together. An unchanged one keeps its earlier defects. */
function check(
  attempts: readonly Omit<Attempt, 'defects'>[],
  before: readonly Attempt[],
  facts: Pick<TranslationRequest, 'sourceLanguage' | 'targetLanguage' | 'context'> & { pseudo: boolean },
): Attempt[] {
  const earlier = new Map(before.map((attempt) => [attempt.segment.id, attempt]));
  const checked = attempts.map(({ segment, translation }): Attempt => {
    if (translation === null) {
      return { segment, translation, defects: [hard('missing', 'there is no translation for this id')] };
    }
    const same = earlier.get(segment.id);
    if (same?.translation === translation) return same;
    const { kind } = segment;
    const glossary = facts.context?.glossary ?? [];
    return {
      segment,
      translation,
      defects: checkSegment(segment.text, translation, { ...facts, kind, glossary }),
    };
  });
  const usable = checked.filter(isUsable);
  const pairs = usable.map(({ segment, translation }) => ({
    source: wordsOf(segment.text),
    translated: wordsOf(translation ?? ''),
  }));
  const echoed = new Set(facts.pseudo ? [] : echoedAmong(pairs, facts).map((index) => usable[index]));
  return checked.map((attempt) =>
    echoed.has(attempt) && attempt.defects.every(({ code }) => code !== 'echo')
      ? { ...attempt, defects: [...attempt.defects, untranslated('echo', ECHO)] }
      : attempt,
  );
}

const isSoft = (defect: Defect): boolean => defect.soft;
const isUsable = ({ translation, defects }: Attempt): boolean =>
  translation !== null && defects.every(isSoft);
const isDeclined = ({ defects }: Attempt): boolean => defects.includes(DECLINED);

const byId = (
  attempts: readonly Attempt[],
  of: (attempt: Attempt) => TranslatedSegment,
): Map<string, TranslatedSegment> => new Map(attempts.map((attempt) => [attempt.segment.id, of(attempt)]));

/** The result of a usable attempt; `before` are the defects of the first attempt. */
const accepted = ({ translation, defects }: Attempt, before: readonly Defect[] = []): TranslatedSegment =>
  defects.length > 0
    ? { text: translation, outcome: 'accepted', defects }
    : { text: translation, outcome: before.length > 0 ? 'repaired' : 'clean', defects: before };

/** The attempt with fewer defects; the second when equal. */
const better = (first: Attempt | undefined, second: Attempt): Attempt =>
  first !== undefined && isUsable(first) && first.defects.length < second.defects.length ? first : second;

function segmentsOf(attempts: readonly Attempt[]): TranslationText[] {
  return attempts.map(({ segment }) => segment);
}

function repairNote({ segment, translation, defects }: Attempt): RepairNote {
  return { id: segment.id, previous: translation, defects: defects.map(({ message }) => message) };
}

/** Defects for people, without text of the article: failures are stored in Temporal. */
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
  breaks: 'line breaks or paragraphs were lost or added',
  spaces: 'no-break or ideographic spaces were lost',
  references: 'characters are written as references',
};

function unusable({ name }: TranslationProvider, { segment, defects }: Attempt): ProviderError {
  const what = [...new Set(defects.filter(({ soft }) => !soft).map(({ code }) => WHAT_IS_WRONG[code]))].join(
    '; ',
  );
  return new ProviderError(
    'unusable',
    `${name} gave no usable translation of ${segment.id}: ${what}. Nothing was charged. Start it again; if it fails again, reword or shorten that text.`,
  );
}

const refusal = ({ name }: TranslationProvider, { segment }: Attempt): ProviderError =>
  new ProviderError(
    'refused',
    `${name} declines to translate too many texts, the last of them ${segment.id}. Nothing was charged. Reword what the report of this job names, then start it again.`,
  );
