import { setTimeout as sleep } from 'node:timers/promises';
import { UserError } from '../../src/local/service.ts';
import type { Job } from '../client/api.ts';
import type { Call } from '../client/client.ts';

const TIMEOUT_MS = 120_000;

/** Waits until `isSo`. @throws {UserError} when it is not within two minutes: the demo ends with another status than 0 */
export async function until(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + TIMEOUT_MS;
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new UserError(`${what} did not come within ${TIMEOUT_MS / 1_000} s.`);
    await sleep(50);
  }
}

/**
 * Follows a job to its end and shows each change on the way.
 * @returns the completed job; @throws {UserError} when it ends otherwise
 */
export async function follow(call: Call, jobId: string, task: { output: string }): Promise<Job> {
  let job: Job | undefined;
  await until('The end of the job', async () => {
    job = (await call('readJob', { params: { jobId } })).body.job;
    const line = [job.status, job.currentStep, `${job.progress} %`].filter(Boolean).join(', ');
    if (line !== task.output) task.output = line;
    return ['COMPLETED', 'FAILED', 'CANCELLED'].includes(job.status);
  });
  if (job?.status !== 'COMPLETED') throw new UserError(`The job ended ${job?.status}: ${job?.errorMessage}`);
  return job;
}
