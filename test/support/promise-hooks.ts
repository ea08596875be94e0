import { globalHandlers } from '@temporalio/worker/lib/workflow/vm-shared.js';

/**
 * A worker on the test's own thread would collect the stack of each promise of the whole process, for a query in the
 * Temporal UI that no test makes: a tenth of all CPU.
 */
globalHandlers.installed = true;
