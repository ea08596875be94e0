import { imageWords } from '../../generation/images/unpaid.ts';
import { type JobArea, startRun } from '../../jobs/start.ts';

/** Registers jobs that make an image anew with the paid-job runner. */
export const regenerationArea: JobArea = {
  start: ({ db, client, names }, job) =>
    startRun({ db, client }, job, {
      workflow: 'regenerateImage',
      taskQueue: names.translation,
      summary: `draw an image of ${job.article_id} anew`,
    }),
  wordsMade: imageWords,
};
