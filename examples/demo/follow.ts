import type { Job } from '../client/api.ts';
import type { Call } from '../client/client.ts';
import { check, until } from './check.ts';

/**
 * Follows a job to its end and shows each change on the way.
 * @returns it as it ended, COMPLETED
 */
export async function follow(call: Call, jobId: string, show: (line: string) => void): Promise<Job> {
  let shown = '';
  let job: Job | undefined;
  await until('The end of the job', async () => {
    job = (await call('readJob', { params: { jobId } })).body.job;
    const line = [job.status, job.currentStep, `${job.progress} %`].filter(Boolean).join(', ');
    if (line !== shown) show(line);
    shown = line;
    check(!['FAILED', 'CANCELLED'].includes(job.status), `the job ended ${job.status}: ${job.errorMessage}`);
    return job.status === 'COMPLETED';
  });
  check(job !== undefined, 'the job was never read.');
  return job;
}
