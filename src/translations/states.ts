import { readAssets } from '../articles/images.ts';
import type { VerbContext } from '../context.ts';
import type { StateCounts } from '../document/refresh/types.ts';
import type { ArticleId } from '../ids.ts';
import { writeJson } from '../json-text.ts';
import { doTask } from '../threads/pool.ts';
import { readTexts, toSnapshot } from './read-source.ts';

/** A version to compare with its source. */
export interface ComparedVersion {
  readonly id: ArticleId;
  readonly sourceId: ArticleId;
  /** Changes with the content of either side and with the version's provenance. */
  readonly tag: string;
}

/** Characters of versions that one task compares: the source is parsed once for them. */
const CHARACTERS_AT_ONCE = 1_000_000;

/** Counts by tag, least recently used first. Pending ones too, so that each is computed once. */
const counted = new Map<string, Promise<StateCounts | undefined>>();
const MAX_COUNTED = 10_000;

/** Units by state, for each version. Omits versions that were deleted meanwhile. */
export async function countStatesOf(
  context: VerbContext,
  versions: readonly ComparedVersion[],
): Promise<Map<ArticleId, StateCounts>> {
  const unknown = versions.filter(({ tag }) => !counted.has(tag));
  for (const [sourceId, ofSource] of Map.groupBy(unknown, (version) => version.sourceId)) {
    const work = compareAll(context, sourceId, ofSource);
    for (const { id, tag } of ofSource) {
      const one = work.then((counts) => counts.get(id));
      counted.set(tag, one);
      // Failures are not cached.
      one.catch(() => counted.delete(tag));
    }
  }
  const counts = await Promise.all(
    versions.map(async ({ id, tag }) => {
      const count = counted.get(tag);
      if (count !== undefined && counted.delete(tag)) counted.set(tag, count);
      return [id, await count] as const;
    }),
  );
  for (const tag of counted.keys()) {
    if (counted.size <= MAX_COUNTED) break;
    counted.delete(tag);
  }
  return new Map(counts.flatMap(([id, count]) => (count === undefined ? [] : [[id, count]])));
}

/** Reads and compares the versions of one source, some at a time, on a thread when they are large. */
async function compareAll(
  { db, actor }: VerbContext,
  sourceId: ArticleId,
  versions: readonly ComparedVersion[],
): Promise<Map<string, StateCounts>> {
  const read = async (id: ArticleId) => {
    const row = await readTexts(db, actor.workspaceId, id)
      .leftJoin('article_provenance as known', 'known.article_id', 'articles.id')
      .select((eb) => eb.cast<string | null>('known.units', 'text').as('units'))
      .executeTakeFirst();
    if (row === undefined) return undefined;
    const assets = await readAssets(db, actor.workspaceId, id);
    return { content: writeJson(toSnapshot(row, assets)), units: row.units };
  };
  const source = await read(sourceId);
  const counts = new Map<string, StateCounts>();
  const contents = new Map<string, string>();
  const known = new Map<string, string>();
  const compare = async (): Promise<void> => {
    if (source === undefined || contents.size === 0) return;
    for (const [id, count] of await doTask('states', source.content, contents, known)) counts.set(id, count);
    contents.clear();
    known.clear();
  };
  let characters = 0;
  for (const { id } of versions) {
    const version = await read(id);
    if (version === undefined || version.units === null) continue;
    contents.set(id, version.content);
    known.set(id, version.units);
    characters += version.content.length + version.units.length;
    if (characters < CHARACTERS_AT_ONCE) continue;
    await compare();
    characters = 0;
  }
  await compare();
  return counts;
}
