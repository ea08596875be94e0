/** The lead and the names of an article, made from its finished text (contract.md G83 to G85). */
import { writeOptionalPart } from './optional-part.ts';
import { ofKind, type Part } from './parts.ts';
import { leadRoom } from './target-lengths.ts';
import { articleOf, lengthsOf, textParts, textWords } from './text-parts.ts';
import { required, type WritingDependencies, type WritingTask } from './write-part.ts';
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
    const written = { ...work, outline: required(work.outline) };
    const { brief, plan } = written;
    const lengths = lengthsOf(brief.config, plan);
    const room = leadRoom(lengths, textWords(textParts(written)));
    const words = room < 1 ? 0 : lengths.lead;
    const names = !isApproved(work.parts);
    if (words === 0 && !names) return { content: { lead: null, names: null }, words: 0 };
    const article = articleOf(written);
    const request = { brief, article, words, room, names, answered, signal: task.signal };
    const content = await writeLead(writer, request);
    return { content, words: content.lead?.words ?? 0 };
  });
}
