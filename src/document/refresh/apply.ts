/** Applies a refresh plan: the changes it writes and the proposals it makes. */
import { MAX_BLOCKS } from '../format/schema.ts';
import { reassemble, type TranslatedArticle } from '../translation/reassemble.ts';
import { leftFields } from '../translation/segments.ts';
import { withBytesOf } from '../translation/source.ts';
import { noteEdits } from './past.ts';
import type {
  Proposal,
  ProposalReason,
  RefreshInput,
  RefreshPlan,
  RefreshResult,
  RefreshStep,
  UnitKey,
  UnitProvenance,
  UnitValue,
} from './types.ts';
import {
  blockKey,
  eachUnit,
  fieldsOf,
  fieldUnits,
  idOf,
  imageKey,
  placesIn,
  type Unit,
  withoutSkipped,
} from './units.ts';
import { type Change, unitsOfVersion, writeUnits } from './write.ts';

/** Bounds on the ids of preceding blocks in one proposal, and in all proposals of a refresh. */
const MAX_BEHIND = 100;
const MAX_NAMED = 20_000;

/**
 * @returns the result, and the keys of texts that are left because their translation is too long to save
 * @throws {ReassemblyError} when a translation is missing or damaged
 */
export function applyRefresh(
  plan: RefreshPlan,
  input: RefreshInput,
): RefreshResult & Pick<TranslatedArticle, 'overlong'> {
  const { current } = input;
  const before = input.provenance ?? plan.adopted;
  const known = new Map(before.map((unit) => [unit.key, unit]));
  const now = unitsOfVersion(
    current,
    before,
    plan.assetIds.map(([sourceId, id]) => [imageKey(sourceId), id]),
  );
  const { values, overlong } = targetValues(plan, input, now);
  const sources = new Map([...eachUnit(plan.partial)].map(([key, value]) => [key, value]));
  const left = leftFields(input.translations).union(overlong);
  const placeOf = placesIn(plan.partial);
  const hero = current.assets.find(({ role }) => role === 'hero')?.id;
  const heroKey = hero && before.find(({ assetId }) => assetId === hero)?.key;
  const changes = new Map<UnitKey, Change>();
  const proposals: Proposal[] = [];
  const settled: UnitKey[] = [...plan.settled];
  const blocksBefore = precedingBlocks(plan);
  let room = MAX_BLOCKS - current.document.blocks.length;

  /** Why a new block or cover cannot be written; null when it can. */
  const noPlaceFor = (value: UnitValue | null): ProposalReason | null => {
    if (value?.type === 'block' && room <= 0) return 'full';
    const taken = hero !== undefined && !(heroKey !== undefined && changes.has(heroKey));
    return value?.type === 'image' && value.image.role === 'hero' && taken ? 'saved' : null;
  };

  // Removals first: they make room for new blocks.
  const removals = plan.steps.filter(({ action }) => action === 'remove');
  const others = plan.steps.filter(({ action }) => action !== 'remove');
  for (const step of [...removals, ...others]) {
    const { key } = step;
    const there = now.get(key);
    const value = values.get(key) ?? null;
    const fields = value === null ? [] : fieldsOf(key, value);
    const whole = { hash: step.source ?? '', texts: step.texts };
    const source = withoutSkipped(whole, fields, placeOf(key), left);
    // The next refresh retries skipped units. A new image is written anyway: blocks show it.
    const isNeeded = plan.isFirst || (value?.type === 'image' && there === undefined);
    if (source !== whole && !isNeeded) continue;
    if ((value === null && there === undefined) || isDecided(step, known.get(key))) {
      settled.push(key);
      continue;
    }
    const inline = isInline(value ?? there?.value);
    const reason =
      inline && there === undefined
        ? null
        : (whyProposed(plan, step, input, now, known) ?? (there ? null : noPlaceFor(value)));
    if (reason === null) {
      const from = source.hash === '' ? null : (sources.get(key) ?? null);
      changes.set(
        key,
        value === null ? { value } : { value, source: source.hash, texts: source.texts, from },
      );
      if (key.startsWith('block:')) room += value === null ? 1 : there === undefined ? -1 : 0;
    } else if (!plan.isFirst && (value !== null || !inline)) {
      const inserts = value?.type === 'block' && there === undefined;
      const behind = inserts ? blocksBefore(key) : [];
      const oldSource = input.oldSources[key] ?? null;
      const newSource = sources.get(key) ?? null;
      proposals.push(proposalOf(step, { reason, value, oldSource, newSource, behind }, there));
    }
  }
  const applied = [...changes.keys()];
  const proposed = new Set(proposals.map(({ key }) => key));
  const provenance = before.map((unit) =>
    proposed.has(unit.key) ? noteEdits(unit, now.get(unit.key)) : unit,
  );
  const written = writeUnits(current, provenance, now, changes, plan.order);
  return { ...written, applied, proposals, settled: [...settled, ...applied], overlong };
}

/** True for an image in the body, which is visible only through its block. */
const isInline = (value: UnitValue | undefined): boolean =>
  value?.type === 'image' && value.image.role === 'inline';

/** True when a person has decided about the unit since the plan was made. */
const isDecided = (step: RefreshStep, known: UnitProvenance | undefined): boolean =>
  (known?.source ?? null) !== step.known && known !== undefined && known.source === step.source;

function whyProposed(
  { isFirst }: RefreshPlan,
  { key, reason, target, known: source }: RefreshStep,
  { provenance, proposeAll }: RefreshInput,
  now: ReadonlyMap<UnitKey, Unit>,
  known: ReadonlyMap<UnitKey, UnitProvenance>,
): ProposalReason | null {
  if (reason !== null) return reason;
  if (proposeAll) return 'asked';
  const same = (now.get(key)?.hash ?? null) === target && (known.get(key)?.source ?? null) === source;
  return same && (provenance !== null || isFirst) ? null : 'saved';
}

/** The new values of the units, in the target language. */
function targetValues(
  plan: RefreshPlan,
  { translations, copyIds, oldSources }: RefreshInput,
  now: ReadonlyMap<UnitKey, Unit>,
): { values: Map<UnitKey, UnitValue>; overlong: Set<string> } {
  const assetIds = new Map([...plan.assetIds, ...copyIds]);
  const made = reassemble(plan.partial, translations, assetIds, new Map(plan.kept));
  const values = new Map<UnitKey, UnitValue>(fieldUnits(made));
  for (const block of made.document.blocks) values.set(blockKey(block.id), { type: 'block', block });
  for (const image of plan.partial.assets) {
    const key = imageKey(image.id);
    const copy = now.get(key)?.value;
    const old = oldSources[key];
    const isDrawnAnew = old?.type === 'image' && old.image.contentHash !== image.contentHash;
    const row =
      copy?.type === 'image'
        ? isDrawnAnew
          ? withBytesOf(copy.image, image)
          : copy.image
        : { ...image, id: copyIds.get(image.id) ?? image.id };
    values.set(key, {
      type: 'image',
      image: { ...row, altText: made.altTexts.get(image.id) ?? row.altText },
    });
  }
  return { values, overlong: made.overlong };
}

/** Returns a function that gives the ids of the blocks before a unit in the source, nearest first. */
function precedingBlocks({ order, steps }: RefreshPlan): (key: UnitKey) => string[] {
  const places = new Map(order.map((key, place) => [key, place]));
  const inserts = steps.filter(({ key, target }) => key.startsWith('block:') && target === null).length;
  const most = Math.max(1, Math.min(MAX_BEHIND, Math.floor(MAX_NAMED / Math.max(1, inserts))));
  return (key) => {
    const place = places.get(key) ?? 0;
    return order
      .slice(Math.max(0, place - most), place)
      .filter((before) => before.startsWith('block:'))
      .map(idOf)
      .reverse();
  };
}

const proposalOf = (
  { key, source, texts }: RefreshStep,
  made: Pick<Proposal, 'reason' | 'value' | 'oldSource' | 'newSource' | 'behind'>,
  there: Unit | undefined,
): Proposal => ({
  ...made,
  key,
  action: made.value === null ? 'remove' : there === undefined ? 'insert' : 'replace',
  source,
  target: there?.hash ?? null,
  texts,
});
