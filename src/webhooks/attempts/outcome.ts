import type { AttemptOutcome } from '../../temporal/shapes.ts';
import { classify, errorMessage, type AttemptOutcome as Sent } from '../sending/outcome.ts';

/** What an attempt came to, as it is recorded. */
export const toAttemptOutcome = (sent: Sent, number: number, startedAt: Date): AttemptOutcome => ({
  number,
  startedAt: startedAt.toISOString(),
  durationMs: Math.round(sent.durationMs),
  verdict: classify(sent),
  responseStatus: sent.kind === 'responded' ? sent.status : null,
  errorMessage: errorMessage(sent),
  responseBody: sent.kind === 'responded' ? sent.bodyText : null,
});
