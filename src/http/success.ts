import { z } from 'zod';
import type { DocumentedResponse, RouteResponse } from './route.ts';

export const ok = (body: unknown): RouteResponse => ({ status: 200, body });
export const created = (body: unknown): RouteResponse => ({ status: 201, body });
export const accepted = (body: unknown): RouteResponse => ({ status: 202, body });

/** The response of a route that has nothing to return. */
export const DONE = ok({ ok: true });

/** The same as a route documents it. @param description what was done */
export const doneResponses = (description: string): Readonly<Record<200, DocumentedResponse>> => ({
  200: { description, schema: z.object({ ok: z.literal(true) }), example: DONE.body },
});
