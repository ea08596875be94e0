import { sql } from 'kysely';

/** Octets of an entry's two texts: larger ones are not remembered (contract.md V53). */
export const MAX_ENTRY_BYTES = 32_768;

/** SQL: the hash that a deleted entry keeps of its text. */
export const hashOf = (text: 'memory.target_text' | 'excluded.target_text') =>
  sql<Buffer>`sha256(convert_to(${sql.ref(text)}, 'UTF8'))`;

/**
 * SQL of ON CONFLICT over `translation_memory AS memory`: the present entry was not deleted with the text that is being
 * written. The statement that writes decides it, so a deletion at the same moment is not undone.
 */
export const isOtherThanDeleted = sql`memory.deleted_hash IS DISTINCT FROM ${hashOf('excluded.target_text')}`;
