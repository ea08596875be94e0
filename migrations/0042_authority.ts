import { type Kysely, sql } from 'kysely';

/**
 * Ends the transaction with an SQLSTATE. The statement that reads a request's authority calls it, so that nothing
 * sent after that statement has an effect, a COMMIT in the same message included.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE FUNCTION refuse(sqlstate_code text, reason text) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION USING ERRCODE = sqlstate_code, MESSAGE = 'refused', DETAIL = reason;
    END $$`.execute(db);
}
