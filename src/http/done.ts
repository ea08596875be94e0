import { z } from 'zod';
import type { DocumentedResponse, RouteResponse } from './route.ts';

/** The response of a route that has done its work and has nothing to show for it. */
export const DONE = { status: 200, body: { ok: true } } as const satisfies RouteResponse;

/** The same as a route documents it. @param description what was done */
export const doneResponses = (description: string): Readonly<Record<200, DocumentedResponse>> => ({
  200: { description, schema: z.object({ ok: z.literal(true) }), example: DONE.body },
});
