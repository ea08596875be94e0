import { type RawBuilder, sql } from 'kysely';

/**
 * The `created_at` of one of several images that are added at once. Images are listed by it, so each is a millisecond
 * younger than the one before.
 */
export const createdInOrder = (index: number): RawBuilder<Date> =>
  sql<Date>`now() + make_interval(secs => ${index / 1_000})`;
