import type { Headers } from '@temporalio/common';
import type { WorkflowInterceptors } from '@temporalio/workflow';
import { TRACE_HEADER } from '../src/temporal/trace-header.ts';

/**
 * Passes the trace of a run on, as it came, to its activities and to the run that continues it. It makes no span and decides
 * nothing: a history with or without the header replays alike.
 */
export const interceptors = (): WorkflowInterceptors => {
  let received: Headers = {};
  return {
    inbound: [
      {
        execute(input, next) {
          const { [TRACE_HEADER]: trace } = input.headers;
          if (trace !== undefined) received = { [TRACE_HEADER]: trace };
          return next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...received } }),
        continueAsNew: (input, next) => next({ ...input, headers: { ...input.headers, ...received } }),
      },
    ],
  };
};
