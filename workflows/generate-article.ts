import { CancellationScope, proxyActivities } from '@temporalio/workflow';
import type { GenerationActivities } from '../activities/generation.ts';
import type { JobActivities } from '../activities/jobs.ts';
import { PART_MS } from '../src/generation/call-limits.ts';
import {
  DRAWING_MS,
  IMAGE_ATTEMPTS,
  IMAGES_AT_ONCE,
  PROCESSING_MS,
} from '../src/generation/images/limits.ts';
import { GATHERING_ATTEMPTS, GATHERING_MS, RESEARCHER_ATTEMPTS } from '../src/generation/research/limits.ts';
import type { GenerationRunInput, GenerationRunResult } from '../src/temporal/shapes.ts';
import { inLanes } from './lanes.ts';
import { awaitTurn, onEngineCalls, onJobSteps, orWithout, paidRun } from './paid-run.ts';

const GIVING_BACK = 'release the hold, the article is a draft again';

/**
 * Writes an article from its topic, or from the approved outline: takes over the hold, researches, makes the outline, plans the
 * text, writes section by section, has the whole edited, its claims checked and its lead written, and settles. A run for the
 * outline alone ends with it. Content never enters the history: outline and sections are rows, and only counts come back.
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
  const web = proxyActivities<Pick<GenerationActivities, 'findSources' | 'findEvidence'>>({
    ...onEngineCalls(),
    retry: { ...onEngineCalls().retry, maximumAttempts: GATHERING_ATTEMPTS },
    startToCloseTimeout: GATHERING_MS,
  });
  // A model that is away holds up the outline and the lead long enough.
  const researcher = proxyActivities<
    Pick<
      GenerationActivities,
      'askQuestions' | 'takeNotes' | 'chooseClaims' | 'compareClaims' | 'correctArticle'
    >
  >({
    ...onEngineCalls(),
    retry: { ...onEngineCalls().retry, maximumAttempts: RESEARCHER_ATTEMPTS },
    startToCloseTimeout: PART_MS,
  });
  const imageCalls = {
    ...onEngineCalls(),
    retry: { ...onEngineCalls().retry, maximumAttempts: IMAGE_ATTEMPTS },
  };
  const prompts = proxyActivities<Pick<GenerationActivities, 'writeImagePrompts'>>({
    ...imageCalls,
    startToCloseTimeout: PART_MS,
  });
  const drawing = proxyActivities<Pick<GenerationActivities, 'drawImage'>>({
    ...imageCalls,
    startToCloseTimeout: DRAWING_MS,
  });
  const processing = proxyActivities<Pick<GenerationActivities, 'processImage'>>({
    ...imageCalls,
    taskQueue: onJobSteps().taskQueue,
    startToCloseTimeout: PROCESSING_MS,
  });
  const summarised = (summary: string) => ({ summary });

  const write = async (): Promise<number> => {
    await orWithout(() =>
      engine.writePlan.executeWithOptions(summarised('plan what each section says'), [jobId]),
    );
    const { sections, faq, facts } = await steps.planSections.executeWithOptions(
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
    if (facts) await checkFacts();
    await orWithout(() =>
      engine.writeLead.executeWithOptions(summarised('write the lead, name the article'), [jobId]),
    );
    const planned = await steps.planImagePrompts.executeWithOptions(summarised('choose the images to make'), [
      jobId,
    ]);
    if (planned > 0) {
      await orWithout(() =>
        prompts.writeImagePrompts.executeWithOptions(summarised('describe the images'), [jobId]),
      );
    }
    const images = await steps.assembleArticle.executeWithOptions(summarised('put the sections together'), [
      jobId,
    ]);
    await makeImages(images);
    return sections;
  };

  /** What fails in it is not delivered: the outline is made without. */
  const research = async (): Promise<void> => {
    await orWithout(() =>
      researcher.askQuestions.executeWithOptions(summarised('ask what to search for'), [jobId]),
    );
    await orWithout(() => web.findSources.executeWithOptions(summarised('search and read'), [jobId]));
    await orWithout(() => researcher.takeNotes.executeWithOptions(summarised('take notes'), [jobId]));
  };

  /** What fails in it is not delivered: the article is finished without. */
  const checkFacts = async (): Promise<void> => {
    await orWithout(() =>
      researcher.chooseClaims.executeWithOptions(summarised('choose the claims'), [jobId]),
    );
    await orWithout(() =>
      web.findEvidence.executeWithOptions(summarised('search for what they say'), [jobId]),
    );
    await orWithout(() =>
      researcher.compareClaims.executeWithOptions(summarised('compare claims with passages'), [jobId]),
    );
    await orWithout(() =>
      researcher.correctArticle.executeWithOptions(summarised('an editor reads what is contradicted'), [
        jobId,
      ]),
    );
  };

  /** @param images their numbers among those of the job */
  const makeImages = async (images: readonly number[]): Promise<void> => {
    const forEach = async (
      step: 'images' | 'media-processing',
      make: (number: number, which: string) => Promise<unknown>,
    ) => {
      const nothing = images.length === 0 ? ': nothing to do' : '';
      await steps.passStep.executeWithOptions(summarised(`${step}${nothing}`), [jobId, step]);
      // What one image waited for in vain is away for the others, too.
      let isAway = false;
      await inLanes([...images.entries()], IMAGES_AT_ONCE, async ([index, number]) => {
        const which = `image ${index + 1} of ${images.length}`;
        if (!isAway && !(await orWithout(() => make(number, which)))) isAway = true;
      });
    };
    await forEach('images', (number, which) =>
      drawing.drawImage.executeWithOptions(summarised(`draw ${which}`), [jobId, number]),
    );
    await forEach('media-processing', (number, which) =>
      processing.processImage.executeWithOptions(summarised(`process ${which}`), [jobId, number]),
    );
  };

  return paidRun<GenerationRunResult>(
    async () => {
      if (!(await awaitTurn(steps.reserve, jobId))) return { outcome: 'already ended' };
      const validated = await steps.validateGeneration.executeWithOptions(
        summarised('read what to write from'),
        [jobId],
      );
      const { outlined, outlineOnly } = validated;
      if (validated.research) await research();
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
