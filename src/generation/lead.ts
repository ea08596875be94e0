/** The lead and the names of an article, made from its finished text (contract.md G83 to G85). */
import type { JobId } from '../ids.ts';
import { ofKind, type Part, textOf } from './parts.ts';
import { leadRoom } from './target-lengths.ts';
import { lengthsOf, textParts, textWords } from './text-parts.ts';
import { type Work, type WritingDependencies, type WritingTask, writeOptionalPart } from './write.ts';
import type { ArticleSoFar } from './writing/brief.ts';
import { type WrittenLead, writeLead } from './writing/write-lead.ts';

/** True for an outline that a person approved: its names stay as they are. */
export const isApproved = (parts: readonly Part[]): boolean => ofKind(parts, 'outline')[0]?.asked === false;

/** The lead and the names; null for what the article does without. */
export function leadOf(parts: readonly Part[]): WrittenLead {
  const [lead] = ofKind(parts, 'lead');
  const { lead: text = null, names = null } = (lead?.content ?? {}) as Partial<WrittenLead>;
  return { lead: text, names };
}

/** Writes lead and names, unless they are stored or neither is wanted. The article does without them where that fails. */
export async function makeLead(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  await writeOptionalPart(dependencies, task, 'lead', async (writer, work, answered) => {
    const { brief } = work;
    const article = articleOf(work, task.jobId);
    const lengths = lengthsOf(brief.config);
    const room = leadRoom(lengths, textWords(textParts(brief.config, article.outline, work.parts)));
    const words = room < 1 ? 0 : lengths.lead;
    const names = !isApproved(work.parts);
    const content: WrittenLead =
      words === 0 && !names
        ? { lead: null, names: null }
        : await writeLead(writer, { brief, article, words, room, names, answered, signal: task.signal });
    return { content, words: content.lead?.words ?? 0 };
  });
}

/** The article as it stands after the editor's pass. */
function articleOf({ outline, parts }: Work, jobId: JobId): ArticleSoFar {
  if (outline === null) throw new Error(`job ${jobId} has no outline`);
  const [faq] = ofKind(parts, 'faq');
  return {
    outline,
    finished: ofKind(parts, 'section').map(textOf),
    faq: faq === undefined ? null : textOf(faq),
  };
}
