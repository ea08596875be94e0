import type { JobStarters } from '../jobs/runs.ts';
import { startTranslation } from '../translations/start.ts';

/** How this release starts the jobs of each purpose. */
export const jobStarters: JobStarters = { translate: startTranslation };
