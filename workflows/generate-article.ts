import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { GenerationActivities } from '../activities/generation.ts';
import type { JobActivities } from '../activities/jobs.ts';
import { PART_MS } from '../src/generation/call-limits.ts';
import type { GenerationRunInput, GenerationRunResult } from '../src/temporal/shapes.ts';
import { awaitTurn, onEngineCalls, onJobSteps, orWithout, paidRun } from './paid-run.ts';

/** The steps that are empty without images. */
const IMAGE_STEPS = ['image-prompts', 'images', 'media-processing'] as const;
const GIVING_BACK = 'release the hold, the article is a draft again';

/**
 * Writes an article from its topic, or from the approved outline: takes over the hold, makes the outline, plans the text,
 * writes section by section, has the whole edited and its lead written, and settles. A run for the outline alone ends with
 * it. Content never enters the history: outline and sections are rows, and only counts come back.
 */
export async function generateArticle({ jobId }: GenerationRunInput): Promise<GenerationRunResult> {
  const steps = proxyActivities<GenerationActivities & JobActivities>(onJobSteps());
  const engine = proxyActivities<
    Pick<
      GenerationActivities,
      'planOutline' | 'writePlan' | 'writeSection' | 'writeFaq' | 'editArticle' | 'writeLead'
    >
  >({
    ...onEngineCalls(),
    startToCloseTimeout: PART_MS,
  });
  const summarised = (summary: string) => ({ summary });

  const write = async (): Promise<number> => {
    await orWithout(() =>
      engine.writePlan.executeWithOptions(summarised('plan what each section says'), [jobId]),
    );
    const { sections, faq } = await steps.planSections.executeWithOptions(
      summarised('plan how long each section is'),
      [jobId],
    );
    for (let section = 1; section <= sections; section += 1) {
      await engine.writeSection.executeWithOptions(summarised(`write section ${section} of ${sections}`), [
        jobId,
        section,
      ]);
    }
    if (faq) await engine.writeFaq.executeWithOptions(summarised('write the questions at the end'), [jobId]);
    await orWithout(() =>
      engine.editArticle.executeWithOptions(summarised('an editor reads the whole'), [jobId]),
    );
    await orWithout(() =>
      engine.writeLead.executeWithOptions(summarised('write the lead, name the article'), [jobId]),
    );
    await steps.assembleArticle.executeWithOptions(summarised('put the sections together'), [jobId]);
    for (const step of IMAGE_STEPS) {
      await steps.passStep.executeWithOptions(summarised(`${step}: nothing to do`), [jobId, step]);
    }
    return sections;
  };

  return paidRun<GenerationRunResult>(
    async () => {
      if (!(await awaitTurn(steps.reserve, jobId))) return { outcome: 'already ended' };
      const { outlined, outlineOnly, research } = await steps.validateGeneration.executeWithOptions(
        summarised('read what to write from'),
        [jobId],
      );
      if (research)
        await steps.passStep.executeWithOptions(summarised('research: nothing to do'), [jobId, 'research']);
      if (!outlined) await engine.planOutline.executeWithOptions(summarised('make the outline'), [jobId]);
      const sections = outlineOnly ? undefined : await write();
      // The point of no return: once begun, a cancellation comes too late.
      const settled = await CancellationScope.nonCancellable(() =>
        outlineOnly
          ? steps.settleOutline.executeWithOptions(summarised('store the outline for its review'), [jobId])
          : steps.settleGeneration.executeWithOptions(summarised('write the article and charge'), [jobId]),
      );
      return {
        outcome: settled ? 'settled' : 'already ended',
        ...(sections === undefined ? {} : { sections }),
      };
    },
    {
      cancel: () => steps.cancelGeneration.executeWithOptions(summarised(GIVING_BACK), [jobId]),
      fail: (message, cause) =>
        steps.failGeneration.executeWithOptions(summarised(GIVING_BACK), [jobId, message, cause]),
      what: 'generation',
    },
  );
}
