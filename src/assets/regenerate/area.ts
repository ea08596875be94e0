import { imageWords } from '../../generation/images/unpaid.ts';
import { type JobArea, startRun } from '../../jobs/start.ts';

/** Registers jobs that regenerate an image with the paid-job runner. */
export const regenerationArea: JobArea = {
  start: ({ db, client, names }, job) =>
    startRun({ db, client }, job, {
      workflow: 'regenerateImage',
      taskQueue: names.translation,
      summary: `regenerate an image of ${job.article_id}`,
    }),
  wordsMade: imageWords,
};
