import { type Kysely, sql } from 'kysely';

/** The wallet, what runs hold of it, and the ledger whose sum is the balance. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    CREATE TABLE wallets (
      workspace_id uuid PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
      balance bigint NOT NULL DEFAULT 0,
      reserved bigint NOT NULL DEFAULT 0,
      CONSTRAINT wallets_reserved_check CHECK (0 <= reserved AND reserved <= balance)
    )`.execute(db);
  await sql`
    CREATE TABLE holds (
      id uuid PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      purpose text NOT NULL CHECK (purpose IN ('translation', 'ai_operation')),
      run_id uuid NOT NULL,
      amount bigint NOT NULL CHECK (amount >= 0),
      status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'settled', 'released')),
      settled_amount bigint CHECK (settled_amount BETWEEN 0 AND amount),
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      ended_at timestamptz(3),
      CONSTRAINT holds_run_key UNIQUE (run_id),
      CONSTRAINT holds_end_check CHECK ((status = 'open') = (ended_at IS NULL)),
      CONSTRAINT holds_settled_check CHECK ((status = 'settled') = (settled_amount IS NOT NULL))
    )`.execute(db);
  await sql`CREATE INDEX holds_open_idx ON holds (created_at) WHERE status = 'open'`.execute(db);
  await sql`
    CREATE TABLE ledger_entries (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      workspace_id uuid NOT NULL REFERENCES workspaces ON DELETE CASCADE,
      kind text NOT NULL CHECK (kind IN ('grant', 'purchase', 'settlement')),
      amount bigint NOT NULL,
      hold_id uuid,
      payment_event_id text,
      created_at timestamptz(3) NOT NULL DEFAULT now(),
      CONSTRAINT ledger_entries_hold_key UNIQUE (hold_id),
      CONSTRAINT ledger_entries_payment_event_key UNIQUE (workspace_id, payment_event_id)
    )`.execute(db);
  await sql`CREATE INDEX ledger_entries_workspace_idx ON ledger_entries (workspace_id, id DESC)`.execute(db);
}
