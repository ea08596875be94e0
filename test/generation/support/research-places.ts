import { sql } from 'kysely';
import type { Database } from '../../../src/db/database.ts';
import { GATE, type Place } from './steps.ts';

/** Parts of a researched run that a model is asked for, in their order. */
const PARTS = [
  'questions',
  'notes',
  'outline',
  'plan',
  'section',
  'edits',
  'claims',
  'verdicts',
  'corrections',
  'lead',
] as const;
type Part = (typeof PARTS)[number];
type Purpose = 'research' | 'claims';

/**
 * Where a job that researches can be held besides: as a response of the model is noted, or a part stored; as the first search or page
 * of a purpose is about to be requested, or what it gave is stored.
 */
export type ResearchPlace =
  | Place
  | `${'answered' | 'stored'} ${Part}`
  | `${'begun' | 'ended'} ${'search' | 'page'} ${Purpose}`;

const web = (purpose: Purpose): ResearchPlace[] => [
  `begun search ${purpose}`,
  `ended search ${purpose}`,
  `begun page ${purpose}`,
  `ended page ${purpose}`,
];
const model = (...parts: Part[]): ResearchPlace[] =>
  parts.flatMap((part) => [`answered ${part}` as const, `stored ${part}` as const]);

/** The places of a run that ends with its outline, of one that begins with it, and of one that does all, in their order. */
export const PLACES = {
  outline: [
    'RESEARCHING',
    ...model('questions'),
    ...web('research'),
    ...model('notes'),
    'OUTLINING',
    ...model('outline'),
    'COMPLETED',
  ],
  approved: [
    'WRITING',
    ...model('plan', 'section', 'edits', 'claims'),
    ...web('claims'),
    ...model('verdicts', 'corrections', 'lead'),
    'assembling',
    'FINALIZING',
    'COMPLETED',
  ],
  whole: [
    'RESEARCHING',
    ...model('questions'),
    ...web('research'),
    ...model('notes'),
    'OUTLINING',
    ...model('outline', 'plan', 'section', 'edits', 'claims'),
    ...web('claims'),
    ...model('verdicts', 'corrections', 'lead'),
    'assembling',
    'FINALIZING',
    'COMPLETED',
  ],
} as const satisfies Record<string, readonly ResearchPlace[]>;

export type Variant = keyof typeof PLACES;

/** Makes `holdEach` of `controlSteps` hold at these places, too. */
export async function controlResearch(db: Database): Promise<void> {
  await sql`
    CREATE FUNCTION hold_at(place text, job uuid) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF EXISTS (SELECT FROM step_control WHERE status = place AND job_id = job)
      THEN PERFORM pg_advisory_xact_lock(${sql.lit(GATE)}); END IF;
    END $$`.execute(db);
  const bodies = {
    generation_calls: sql`
      IF NEW.outcome = 'answered' AND OLD.outcome IS NULL THEN
        PERFORM hold_at('answered ' || kind, NEW.job_id) FROM generation_parts
        WHERE job_id = NEW.job_id AND part = NEW.part;
      END IF;`,
    generation_parts: sql`
      IF NEW.content IS NOT NULL AND OLD.content IS NULL THEN PERFORM hold_at('stored ' || NEW.kind, NEW.job_id); END IF;`,
    generation_searches: sql`
      IF NEW.number = 1 THEN
        PERFORM hold_at(CASE WHEN NEW.tries > OLD.tries THEN 'begun' ELSE 'ended' END || ' search ' || NEW.purpose, NEW.job_id);
      END IF;`,
    generation_pages: sql`
      IF NEW.number = 1 AND NOT (NEW.text IS NULL AND OLD.text IS NOT NULL) THEN
        PERFORM hold_at(CASE WHEN NEW.tries > OLD.tries THEN 'begun' ELSE 'ended' END || ' page ' || NEW.purpose, NEW.job_id);
      END IF;`,
  };
  for (const [table, body] of Object.entries(bodies)) {
    const name = sql.id(`hold_${table}`);
    await sql`
      CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN ${body} RETURN NEW; END $$`.execute(db);
    await sql`CREATE TRIGGER ${name} BEFORE UPDATE ON ${sql.table(table)} FOR EACH ROW EXECUTE FUNCTION ${name}()`.execute(
      db,
    );
  }
}
