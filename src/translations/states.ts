import { type Selectable, sql } from 'kysely';
import { IMAGES_HASH, readAssets } from '../articles/images.ts';
import type { Database } from '../db/database.ts';
import type { Tables } from '../db/tables.ts';
import type { StateCounts } from '../document/refresh/types.ts';
import { ServiceError, TooSlowError } from '../errors.ts';
import type { ArticleId, WorkspaceId } from '../ids.ts';
import { writeJson } from '../json-text.ts';
import { doTask } from '../threads/pool.ts';
import { readTexts, toSnapshot } from './read-source.ts';

/** Stands for how units are counted. Another number makes all stored counts unknown. */
const RULES = 1;
/** Characters of versions that one task compares: the source is parsed once for them. */
const CHARACTERS_AT_ONCE = 1_000_000;

const CONTENT_TAG = sql`concat_ws('.', articles.content_version, ${IMAGES_HASH})`;

/**
 * SQL over `articles` and its provenance `known`: the tag of what a version's states follow from, which is the content of
 * both sides and the version's provenance; null for a version without a source.
 */
const STATES_TAG = sql<string | null>`(
  SELECT concat_ws('.', ${sql.lit(RULES)}, articles.id, ${CONTENT_TAG}) FROM articles
  WHERE articles.workspace_id = known.workspace_id AND articles.id = known.source_article_id
) || '.' || ${CONTENT_TAG} || '.' || known.xmin::text`;

/** Columns of versions joined with their provenance, `known`, and their counts, `counted`, which may both be missing. */
export const stateColumns = [
  'known.article_id as known_id',
  'known.source_article_id',
  STATES_TAG.as('tag'),
  'counted.tag as counted_tag',
  'counted.states',
] as const;

/** A row with these columns. */
export interface VersionStates {
  readonly id: ArticleId;
  /** Null for an article without provenance. */
  readonly known_id: ArticleId | null;
  readonly source_article_id: ArticleId | null;
  readonly tag: string | null;
  readonly counted_tag: string | null;
  readonly states: Selectable<Tables['version_states']>['states'] | null;
}

/** The version's states: null without a source, undefined when they are to be counted. */
export const knownStates = ({ tag, counted_tag, states }: VersionStates): StateCounts | null | undefined =>
  tag === null ? null : tag === counted_tag ? states : undefined;

/** Called for a version that could not be compared. */
type OnError = (id: ArticleId, error: unknown) => void;

/**
 * Counts units by state for versions whose states are unknown, and stores the counts under their tags. What changes
 * meanwhile has another tag, so its counts are unknown again. Omits versions that were deleted meanwhile.
 * @param onError throws by default
 * @throws {ServiceError} SERVICE_UNAVAILABLE when too many large documents are being processed
 */
export async function countStates(
  db: Database,
  workspaceId: WorkspaceId,
  versions: readonly VersionStates[],
  onError: OnError = (_, error) => {
    throw error;
  },
): Promise<Map<ArticleId, StateCounts>> {
  const all = new Map<ArticleId, StateCounts>();
  for (const [sourceId, ofSource] of Map.groupBy(versions, (version) => version.source_article_id)) {
    if (sourceId === null) continue;
    const counts = await compareAll(db, workspaceId, { sourceId, versions: ofSource, onError });
    await store(db, workspaceId, ofSource, counts);
    for (const [id, count] of counts) all.set(id, count);
  }
  return all;
}

/** A version as JSON text. */
interface Side {
  readonly content: string;
  readonly units: string;
}

/** Reads and compares the versions of one source, some at a time, on a thread when they are large. */
async function compareAll(
  db: Database,
  workspaceId: WorkspaceId,
  {
    sourceId,
    versions,
    onError,
  }: {
    readonly sourceId: ArticleId;
    readonly versions: readonly VersionStates[];
    readonly onError: OnError;
  },
): Promise<Map<ArticleId, StateCounts>> {
  const read = async (id: ArticleId) => {
    const row = await readTexts(db, workspaceId, id)
      .leftJoin('article_provenance as known', 'known.article_id', 'articles.id')
      .select((eb) => eb.cast<string | null>('known.units', 'text').as('units'))
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const assets = await readAssets(db, workspaceId, id);
    return { content: writeJson(toSnapshot(row, assets)), units: row.units };
  };
  const counts = new Map<ArticleId, StateCounts>();
  const source = await read(sourceId);
  if (source === undefined) return counts;
  const sides = new Map<ArticleId, Side>();
  const compareRead = async (): Promise<void> => {
    for (const [id, count] of await compare(source.content, sides, onError)) counts.set(id, count);
    sides.clear();
  };
  let characters = 0;
  for (const { id } of versions) {
    const version = await read(id);
    if (version === undefined || version.units === null) continue;
    const { content, units } = version;
    sides.set(id, { content, units });
    characters += content.length + units.length;
    if (characters < CHARACTERS_AT_ONCE) continue;
    await compareRead();
    characters = 0;
  }
  await compareRead();
  return counts;
}

/** Compares versions in one task, or each alone when that fails. */
async function compare(
  source: string,
  sides: ReadonlyMap<ArticleId, Side>,
  onError: OnError,
): Promise<[ArticleId, StateCounts][]> {
  if (sides.size === 0) return [];
  const textsOf = (name: keyof Side) => new Map([...sides].map(([id, side]) => [id as string, side[name]]));
  try {
    const counts = await doTask('states', source, textsOf('content'), textsOf('units'));
    return [...counts].map(([id, count]) => [id as ArticleId, count]);
  } catch (error) {
    // There was no turn for it.
    if (error instanceof ServiceError && !(error instanceof TooSlowError)) throw error;
    const [id] = sides.keys();
    if (sides.size === 1 && id !== undefined) {
      onError(id, error);
      return [];
    }
    const alone: [ArticleId, StateCounts][] = [];
    for (const one of sides) alone.push(...(await compare(source, new Map([one]), onError)));
    return alone;
  }
}

/** Stores counts, in the order of ids, so that two processes cannot deadlock. A version that is being deleted is left out. */
async function store(
  db: Database,
  workspaceId: WorkspaceId,
  versions: readonly VersionStates[],
  counts: ReadonlyMap<ArticleId, StateCounts>,
): Promise<void> {
  if (counts.size === 0) return;
  const stored = versions.filter(({ id }) => counts.has(id));
  await sql`
    INSERT INTO version_states (article_id, workspace_id, tag, states)
    SELECT articles.id, articles.workspace_id, counted.tag, counted.states::jsonb
    FROM unnest(
      ${stored.map(({ id }) => id)}::uuid[],
      ${stored.map(({ tag }) => tag)}::text[],
      ${stored.map(({ id }) => JSON.stringify(counts.get(id)))}::text[]
    ) AS counted (id, tag, states)
    JOIN articles ON articles.workspace_id = ${workspaceId} AND articles.id = counted.id
    ORDER BY articles.id FOR KEY SHARE OF articles SKIP LOCKED
    ON CONFLICT (article_id) DO UPDATE SET tag = excluded.tag, states = excluded.states`.execute(db);
}
