/** Tasks that plan translations and refreshes. Texts that come in are JSON. */
import { newDraft, planDraft } from '../refresh/draft.ts';
import { textsInVersion } from '../refresh/in-version.ts';
import { planRefresh, segmentsToSend } from '../refresh/plan.ts';
import { unitNames } from '../refresh/states.ts';
import type {
  Proposal,
  Provenance,
  RefreshOptions,
  RefreshPlan,
  UnitKey,
  UnitSources,
} from '../refresh/types.ts';
import { type PlannedTexts, planTexts } from '../translation/planned.ts';
import type { Segment } from '../translation/segments.ts';
import { bytesOf, type Snapshot, type SourceAsset } from '../translation/source.ts';

export const read = <Value>(json: string): Value => JSON.parse(json) as Value;
export const readProvenance = (json: string | null): Provenance | null =>
  json === null ? null : read<Provenance>(json);

/** A plan as JSON text, with its figures. */
export interface PlannedRefresh {
  readonly plan: string;
  readonly sent: number;
  readonly weight: number;
  /** Bytes to reserve for copies of images. */
  readonly bytes: number;
  /** Number of blocks in the source. */
  readonly blocks: number;
  /** Number of changed units. */
  readonly changed: { readonly blocks: number; readonly fields: number; readonly images: number };
  /** The changed units. */
  readonly keys: readonly UnitKey[];
  /** Those of `units` that neither side has. */
  readonly unknown: readonly string[];
}

/** How a refresh was requested. */
export interface PlanOptions {
  readonly apply: RefreshOptions['apply'];
  readonly languages?: RefreshOptions['languages'];
  /** Names of units; undefined for all. */
  readonly units?: readonly string[] | undefined;
}

/** The names that no unit has. */
export const unknownAmong = (named: readonly string[], names: ReadonlySet<string>): string[] =>
  named.filter((name) => !names.has(name));

/** Plans a refresh of a version; `proposed` are its open proposals. */
export function planVersion(
  sourceJson: string,
  versionJson: string,
  provenance: string | null,
  proposed: string,
  { apply, languages, units: named }: PlanOptions,
): PlannedRefresh {
  const source = read<Snapshot>(sourceJson);
  const version = read<Snapshot>(versionJson);
  const known = readProvenance(provenance);
  const plan = planRefresh(source, version, known, {
    apply,
    languages,
    units: named as readonly UnitKey[] | undefined,
    proposed: read<Proposal[]>(proposed),
  });
  const unknown = named === undefined ? [] : unknownAmong(named, unitNames(source, version, known));
  return summarize(plan, source, unknown, drawnAnew(plan, version));
}

/**
 * Plans a first translation.
 * @param draftJson the draft that it fills; null for a new one
 * @param madeTitle the title that the service gave the draft; null where a person may have given it
 */
export function planFirst(
  sourceJson: string,
  draftJson: string | null,
  madeTitle: string | null,
  languages: RefreshOptions['languages'],
): PlannedRefresh {
  const source = read<Snapshot>(sourceJson);
  const [draft, made] =
    draftJson === null
      ? [newDraft(source.title), source.title]
      : [read<Snapshot>(draftJson), madeTitle ?? ''];
  return summarize(planDraft(source, draft, made, languages), source, []);
}

/** Images of the source whose copies in the version have other bytes: those may be replaced. */
function drawnAnew({ assetIds, partial }: RefreshPlan, version: Snapshot): SourceAsset[] {
  const copies = new Map<string, string>(assetIds);
  const hashes = new Map<string, string>(version.assets.map(({ id, contentHash }) => [id, contentHash]));
  return partial.assets.filter(({ id, contentHash }) => {
    const there = hashes.get(copies.get(id) ?? '');
    return there !== undefined && there !== contentHash;
  });
}

function summarize(
  plan: RefreshPlan,
  source: Snapshot,
  unknown: readonly string[],
  replacing: readonly SourceAsset[] = [],
): PlannedRefresh {
  const keys = plan.steps.map(({ key }) => key);
  const blocks = keys.filter((key) => key.startsWith('block:')).length;
  const images = keys.filter((key) => key.startsWith('image:')).length;
  return {
    plan: JSON.stringify(plan),
    sent: plan.sent,
    weight: plan.weight,
    bytes: bytesOf(plan.copies) + bytesOf(replacing),
    blocks: source.document.blocks.length,
    changed: { blocks, images, fields: keys.length - blocks - images },
    keys,
    unknown,
  };
}

/** The texts to send for a stored plan, the part of the source that they are from, and its units as translated before. */
export function sentOf(
  refresh: string,
): Pick<RefreshPlan, 'title' | 'partial' | 'languages'> & { segments: Segment[]; oldSources: UnitSources } {
  const { plan, oldSources } = read<{ plan: RefreshPlan; oldSources: UnitSources }>(refresh);
  const { title, partial, languages } = plan;
  return { title, partial, languages, segments: segmentsToSend(plan), oldSources };
}

/**
 * The texts to send of a planned translation.
 * @param source the source as it is now; null to take the planned part of it
 * @param version what a refresh changes; null for an engine that does not go by it
 */
export function planSegments(
  planned: string,
  source: string | null,
  version: { readonly content: string; readonly provenance: string | null } | null,
): PlannedTexts {
  const { title, partial, languages, oldSources, segments } = sentOf(planned);
  const whole = source === null ? partial : read<Snapshot>(source);
  // A part of the source may lack its title.
  const named = source === null ? { title } : {};
  if (version === null) return { ...planTexts(segments, whole, partial, languages), ...named };
  const content = read<Snapshot>(version.content);
  const provenance = readProvenance(version.provenance);
  const texts = textsInVersion(whole, partial, { content, provenance, oldSources });
  const made = planTexts(segments, whole, partial, languages, texts);
  const hasTitle = segments.some(({ kind }) => kind === 'title');
  return { ...made, ...named, ...(hasTitle ? {} : { versionTitle: content.title }) };
}
