import { firstOf, leavePartOut } from './parts.ts';
import { showWritten } from './progress.ts';
import { type PartWork, type WritingDependencies, type WritingTask, writePart } from './write-part.ts';

/**
 * Writes the part of a kind, unless it is stored. The article does without one that fails (contract.md G74): only an engine
 * that is busy or refuses this deployment is asked again by the next attempt.
 */
export async function writeOptionalPart(
  dependencies: WritingDependencies,
  task: WritingTask,
  kind: 'edits' | 'claims' | 'corrections' | 'lead' | 'imagePrompts',
  write: PartWork['write'],
): Promise<void> {
  const { db } = dependencies;
  await writePart(dependencies, task, {
    find: firstOf(kind),
    write,
    doWithout: async (_, { parts }) => {
      const part = firstOf(kind)(parts);
      if (part !== undefined) await leavePartOut(db, task.jobId, part.part);
      return true;
    },
  });
  await showWritten(db, task.jobId);
}
