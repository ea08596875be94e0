/** Asking a provider until every segment is usable: batch, repair with the exact defects, alone, give up. */
import { checkSegment, type Defect } from '../document/translation/check.ts';
import {
  ProviderError,
  type RepairNote,
  type TranslationProvider,
  type TranslationRequest,
  type TranslationText,
} from './types.ts';

export interface TranslateSegmentsRequest extends Omit<TranslationRequest, 'repair'> {
  /** Called with usable translations as soon as they are there, so that a later failure does not cost them. */
  readonly keep?: (usable: ReadonlyMap<string, string>) => Promise<void>;
}

/** What is known about a segment after an answer. */
interface Attempt {
  readonly segment: TranslationText;
  readonly answer: string | null;
  readonly defects: readonly Defect[];
}

/**
 * Translates the segments and checks each one. Unusable answers are asked for again together, with what is wrong;
 * what is still unusable is asked for one by one. An answer with only soft defects is accepted after one repair.
 * @returns a usable translation for every segment id.
 * @throws ProviderError as the provider threw it, or `fatal` naming the segment and its defect. The signal's reason when aborted.
 */
export async function translateSegments(
  provider: TranslationProvider,
  request: TranslateSegmentsRequest,
): Promise<Map<string, string>> {
  const done = new Map<string, string>();
  if (request.segments.length === 0) return done;
  const { keep, ...asked } = request;
  const { sourceLanguage, targetLanguage, signal } = asked;
  const sameLanguage = baseLanguage(sourceLanguage) === baseLanguage(targetLanguage);
  const ask = async (
    segments: readonly TranslationText[],
    repair: readonly RepairNote[],
  ): Promise<Attempt[]> => {
    signal.throwIfAborted();
    const answers = await provider.translate({
      ...asked,
      segments,
      ...(repair.length > 0 ? { repair } : {}),
    });
    return segments.map((segment) => judge(segment, answers.get(segment.id) ?? null, sameLanguage));
  };

  /** Keeps the usable answers and returns the rest. */
  const take = async (attempts: readonly Attempt[], acceptSoft: boolean): Promise<Attempt[]> => {
    const usable = usableAnswers(attempts, acceptSoft);
    for (const [id, text] of usable) done.set(id, text);
    if (usable.size > 0) await keep?.(usable);
    return attempts.filter(({ segment }) => !usable.has(segment.id));
  };

  const first = await take(await ask(request.segments, []), false);
  if (first.length === 0) return done;
  const soft = new Map(first.flatMap(softAnswer));
  const second = await take(await ask(segmentsOf(first), first.map(repairNote)), true);
  for (const attempt of second) {
    const { segment } = attempt;
    const [last] = await take(await ask([segment], [repairNote(attempt)]), true);
    if (last === undefined) continue;
    const earlier = soft.get(segment.id);
    if (earlier === undefined) throw unusable(provider, last);
    done.set(segment.id, earlier);
    await keep?.(new Map([[segment.id, earlier]]));
  }
  return done;
}

function baseLanguage(tag: string): string {
  return tag.split('-', 1).join('').toLowerCase();
}

function judge(segment: TranslationText, answer: string | null, sameLanguage: boolean): Attempt {
  if (answer === null) {
    const missing: Defect = { code: 'missing', message: 'there is no translation for this id', soft: false };
    return { segment, answer, defects: [missing] };
  }
  const defects = checkSegment(segment.text, answer);
  // Between two variants of one language most texts are rightly the same.
  return { segment, answer, defects: sameLanguage ? defects.filter(({ soft }) => !soft) : defects };
}

/** The answers without defects, or with soft ones only, by segment id. */
function usableAnswers(attempts: readonly Attempt[], acceptSoft: boolean): Map<string, string> {
  return new Map(
    attempts.flatMap(({ segment, answer, defects }) =>
      answer !== null && defects.every(({ soft }) => soft && acceptSoft) ? [[segment.id, answer]] : [],
    ),
  );
}

/** An answer that is good enough if nothing better comes. */
function softAnswer({ segment, answer, defects }: Attempt): [string, string][] {
  return answer !== null && defects.every((defect) => defect.soft) ? [[segment.id, answer]] : [];
}

function segmentsOf(attempts: readonly Attempt[]): TranslationText[] {
  return attempts.map(({ segment }) => segment);
}

function repairNote({ segment, answer, defects }: Attempt): RepairNote {
  return { id: segment.id, previous: answer, defects: defects.map(({ message }) => message) };
}

function unusable(provider: TranslationProvider, { segment, defects }: Attempt): ProviderError {
  const what = defects.map(({ message }) => message).join('; ');
  return new ProviderError('fatal', `${provider.name} gave no usable translation of ${segment.id}: ${what}`);
}
