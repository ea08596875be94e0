/** Asking a provider until every segment is usable: batch, repair with the exact defects, alone, give up. */
import { checkSegment, type Defect } from '../document/check.ts';
import { ProviderError, type RepairNote, type TranslationProvider, type TranslationText } from './types.ts';

export interface TranslateSegmentsRequest {
  readonly sourceLanguage: string;
  readonly targetLanguage: string;
  readonly segments: readonly TranslationText[];
  readonly signal: AbortSignal;
}

/** What is known about a segment after an answer. */
interface Attempt {
  readonly segment: TranslationText;
  readonly answer: string | null;
  readonly defects: readonly Defect[];
}

/**
 * Translates the segments and checks each one. Unusable answers are asked for again together, with what is wrong;
 * what is still unusable is asked for alone. An answer with soft defects only is taken after one repair.
 * @returns a usable translation for every segment id.
 * @throws ProviderError as the provider threw it, or `fatal` naming the segment and its defect. The signal's reason when aborted.
 */
export async function translateSegments(
  provider: TranslationProvider,
  request: TranslateSegmentsRequest,
): Promise<Map<string, string>> {
  const done = new Map<string, string>();
  if (request.segments.length === 0) return done;
  const sameLanguage = baseLanguage(request.sourceLanguage) === baseLanguage(request.targetLanguage);
  const ask = async (
    segments: readonly TranslationText[],
    repair: readonly RepairNote[],
  ): Promise<Attempt[]> => {
    request.signal.throwIfAborted();
    const answers = await provider.translate({
      ...request,
      segments,
      ...(repair.length > 0 ? { repair } : {}),
    });
    return segments.map((segment) => judge(segment, answers.get(segment.id) ?? null, sameLanguage));
  };

  const first = take(await ask(request.segments, []), done, false);
  if (first.length === 0) return done;
  const soft = new Map(first.flatMap(softAnswer));
  const second = take(await ask(segmentsOf(first), first.map(repairNote)), done, true);
  for (const attempt of second) {
    const { segment } = attempt;
    const [last] = take(await ask([segment], [repairNote(attempt)]), done, true);
    if (last === undefined) continue;
    const earlier = soft.get(segment.id);
    if (earlier === undefined) throw unusable(provider, last);
    done.set(segment.id, earlier);
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

/** Moves usable answers to `done` and returns the rest. */
function take(attempts: readonly Attempt[], done: Map<string, string>, acceptSoft: boolean): Attempt[] {
  return attempts.filter(({ segment, answer, defects }) => {
    const usable = answer !== null && defects.every(({ soft }) => soft && acceptSoft);
    if (usable) done.set(segment.id, answer);
    return !usable;
  });
}

/** An answer that will do if nothing better comes. */
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
