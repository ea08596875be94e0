/** Plans a refresh. */
import type { Block } from '../format/schema.ts';
import type { TextChange } from '../format/walk.ts';
import { extractSegments, type Segment } from '../translation/segments.ts';
import type { Snapshot, SourceAsset } from '../translation/source.ts';
import { isUnconfirmed } from './attach.ts';
import { type ReusableTexts, reusableTexts, reuse } from './reuse.ts';
import { adopt, type Compared, type Comparison, compare } from './states.ts';
import type {
  Proposal,
  ProposalReason,
  Provenance,
  RefreshAction,
  RefreshOptions,
  RefreshPlan,
  RefreshStep,
  UnitKey,
} from './types.ts';
import { fieldsAmong, fieldsOf, hashesOf, idOf } from './units.ts';
import { weigh } from './weigh.ts';

/** The action for a unit, and why it is only proposed. */
interface Decision {
  readonly action: RefreshAction;
  readonly reason: ProposalReason | null;
}

/** The inputs of decisions about single units. */
interface Circumstances {
  readonly units: ReadonlyMap<UnitKey, Compared>;
  readonly open: ReadonlyMap<UnitKey, Proposal>;
  /** Null for all. */
  readonly named: ReadonlySet<UnitKey> | null;
  /** Why the whole refresh only proposes; null when it may apply. */
  readonly only: ProposalReason | null;
}

/**
 * Plans a refresh. `provenance` is null for a version without one. A plan without steps changes nothing.
 */
export function planRefresh(
  source: Snapshot,
  version: Snapshot,
  provenance: Provenance | null,
  options: RefreshOptions,
): RefreshPlan {
  const comparison = compare(source, version, provenance);
  const given: Circumstances = {
    units: new Map(comparison.units.map((unit) => [unit.key, unit])),
    open: new Map(options.proposed.map((proposal) => [proposal.key, proposal])),
    named: options.units === undefined ? null : new Set(options.units),
    only: whyNothingIsApplied(comparison, provenance, options),
  };
  const decided = decideAll(comparison, version, given);
  const made = makeTexts(decided, source, given);
  const steps = comparison.units.flatMap((unit) => {
    const decision = decided.get(unit.key);
    return decision === undefined ? [] : [stepOf(unit, decision)];
  });
  const inOrder = comparison.units.flatMap(({ key, source: from }) => (from === undefined ? [] : key));
  const plan = {
    ...made,
    languages: options.languages ?? null,
    steps,
    assetIds: [...comparison.assetIds],
    copies: steps.flatMap(({ key, action, reason }) => {
      const value = action === 'insert' && reason === null ? given.units.get(key)?.source?.value : undefined;
      return value?.type === 'image' ? [value.image] : [];
    }),
    order: inOrder,
    adopted: provenance === null ? comparison.units.flatMap(adopt) : [],
    settled: options.proposed.filter((proposal) => isSettled(proposal, given)).map(({ key }) => key),
  };
  return { ...plan, sent: segmentsToSend(plan).length, weight: weigh(plan) };
}

/** The texts of a plan to send to an engine, in reading order. */
export const segmentsToSend = ({
  partial,
  kept,
  languages,
}: Pick<RefreshPlan, 'partial' | 'kept' | 'languages'>): Segment[] =>
  extractSegments(partial, new Map(kept), languages);

function whyNothingIsApplied(
  { units }: Comparison,
  provenance: Provenance | null,
  { apply }: RefreshOptions,
): ProposalReason | null {
  if (provenance === null || units.some(isUnconfirmed)) return 'unmanaged';
  const known = units.filter(({ key, known }) => key.startsWith('block:') && known?.target != null);
  // Units missing on both sides are not compared.
  const total = provenance.filter(({ key, target }) => key.startsWith('block:') && target !== null).length;
  const foundIn = (side: 'source' | 'version') => known.filter((unit) => unit[side] !== undefined).length;
  if (foundIn('source') * 2 < total || foundIn('version') * 2 < total) return 'ids';
  return apply === 'none' ? 'asked' : null;
}

function decideAll(comparison: Comparison, version: Snapshot, given: Circumstances): Map<UnitKey, Decision> {
  const decided = new Map<UnitKey, Decision>();
  const images: Compared[] = [];
  for (const unit of comparison.units) {
    if (unit.key.startsWith('image:')) images.push(unit);
    else {
      const decision = decide(unit, given);
      if (decision !== null) decided.set(unit.key, decision);
    }
  }
  const needed = imagesOf(
    comparison.units.flatMap(({ key, source }) => {
      const action = decided.get(key)?.action;
      return source?.value.type === 'block' && action !== undefined && action !== 'remove'
        ? source.value.block
        : [];
    }),
  );
  const { keyOfBlock } = comparison;
  const stays = ({ id }: Block): boolean => {
    const key = keyOfBlock(id);
    return key === undefined || !isGoing(decided.get(key));
  };
  const shown = imagesOf(version.document.blocks.filter(stays));
  for (const unit of images) {
    const decision = decideImage(unit, { ...given, needed, shown });
    if (decision !== null) decided.set(unit.key, decision);
  }
  settleHeroes(images, version, decided);
  return decided;
}

const isGoing = (decision: Decision | undefined): boolean =>
  decision !== undefined && decision.reason === null;

const imagesOf = (blocks: readonly Block[]): Set<string> =>
  new Set(blocks.flatMap((block) => (block.type === 'image' ? block.assetId : [])));

/** Decides about a field, a block or a cover. */
function decide(unit: Compared, { named, open, only }: Circumstances): Decision | null {
  const { key, source, version, known, state, byPerson } = unit;
  const edited = byPerson ? 'edited' : null;
  if (named !== null && !named.has(key)) return null;
  const proposal = open.get(key);
  const wanted = ((): Decision | null => {
    switch (state) {
      case 'new':
        return { action: 'insert', reason: only };
      case 'gone':
        return { action: 'remove', reason: only ?? edited };
      case 'stale':
      case 'editedAndStale':
        return { action: 'replace', reason: only ?? edited };
      case 'current':
      case 'edited':
        return named === null ? null : { action: 'replace', reason: only ?? edited };
      default:
        // Removed by a person: proposed again only if a proposal is open or the unit was requested by name.
        return source !== undefined && known !== undefined && (proposal !== undefined || named !== null)
          ? { action: 'insert', reason: only ?? 'edited' }
          : null;
    }
  })();
  // An open proposal that is still valid stays.
  const same = proposal?.source === (source?.hash ?? null) && proposal.target === (version?.hash ?? null);
  return named === null && wanted?.reason != null && same ? null : wanted;
}

/** Decides about an image. Copying an image of the body is not visible without its block. */
function decideImage(
  unit: Compared,
  given: Circumstances & { readonly needed: ReadonlySet<string>; readonly shown: ReadonlySet<string> },
): Decision | null {
  const { key, source, version, state, byPerson } = unit;
  const image = source?.value.type === 'image' ? source.value.image : undefined;
  const copy = version?.value.type === 'image' ? version.value.image : undefined;
  if ((image ?? copy)?.role === 'hero') return decide(unit, given);
  if (copy === undefined) {
    const wanted = given.needed.has(idOf(key)) || (state === 'new' && (given.named?.has(key) ?? true));
    return wanted ? { action: 'insert', reason: null } : null;
  }
  if (state !== 'gone') return decide(unit, given);
  const stays = given.shown.has(copy.id) || byPerson || given.only !== null;
  return stays ? null : decide(unit, given);
}

/** An article has one cover: a new one replaces an unedited cover, or is proposed. */
function settleHeroes(images: readonly Compared[], version: Snapshot, decided: Map<UnitKey, Decision>): void {
  const isHero = ({ source, version: copy }: Compared): boolean =>
    [source, copy].some((unit) => unit?.value.type === 'image' && unit.value.image.role === 'hero');
  const heroes = images.filter(isHero);
  const going = heroes.find(({ key }) => decided.get(key)?.action === 'remove');
  const coming = heroes.find(({ key }) => decided.get(key)?.action === 'insert');
  if (coming === undefined) return;
  const decision = decided.get(coming.key);
  const taken =
    version.assets.some(({ role }) => role === 'hero') && !isGoing(going && decided.get(going.key));
  if (taken && decision?.reason === null) decided.set(coming.key, { ...decision, reason: 'edited' });
  if (going !== undefined && decided.get(coming.key)?.reason !== null) decided.delete(going.key);
}

const stepOf = ({ key, source, version, known }: Compared, decision: Decision): RefreshStep => ({
  key,
  ...decision,
  source: source?.hash ?? null,
  target: version?.hash ?? null,
  known: known?.source ?? null,
  texts: source === undefined ? [] : hashesOf(fieldsOf(key, source.value)),
});

/** The part of the source to translate, and the texts in it that can be reused. */
function makeTexts(
  decided: ReadonlyMap<UnitKey, Decision>,
  source: Snapshot,
  { units, open, named }: Circumstances,
): Pick<RefreshPlan, 'partial' | 'kept'> {
  const untouched = new Map<string, Compared>();
  for (const unit of units.values()) {
    if (unit.key.startsWith('block:') && unit.known && unit.version?.hash === unit.known.target) {
      untouched.set(unit.known.source, unit);
    }
  }
  const kept: [string, TextChange][] = [];
  const blocks: Block[] = [];
  const assets: SourceAsset[] = [];
  const makes = (key: UnitKey): boolean => {
    const action = decided.get(key)?.action;
    return action !== undefined && action !== 'remove';
  };
  for (const unit of units.values()) {
    if (unit.source === undefined || !makes(unit.key)) continue;
    const { value, hash } = unit.source;
    const list = value.type === 'block' ? blocks : assets;
    if (named === null || !named.has(unit.key)) {
      const fields = fieldsOf(unit.key, value);
      const found = reuse(
        fields,
        hashesOf(fields),
        findReusable(unit, open.get(unit.key), untouched.get(hash)),
      );
      for (const [index, change] of found.entries()) {
        const field = fields[index];
        if (field && change) kept.push([field.keyAt(list.length), change]);
      }
    }
    if (value.type === 'block') blocks.push(value.block);
    if (value.type === 'image') assets.push(value.image);
  }
  const partial: Snapshot = {
    ...fieldsAmong(source, makes),
    document: { version: 1, blocks },
    assets,
  };
  return { partial, kept };
}

/** Reusable texts of a unit: from the version, its open proposal, or a block whose id has changed. */
function findReusable(
  { key, version, known }: Compared,
  proposal: Proposal | undefined,
  renamed: Compared | undefined,
): ReusableTexts[] {
  const made: ReusableTexts[] = [];
  if (version && known) made.push(reusableTexts(key, known, version.value));
  if (proposal?.value) {
    made.push({ texts: proposal.texts, fields: fieldsOf(key, proposal.value) });
  }
  if (renamed?.version && renamed.known) {
    made.push(reusableTexts(renamed.key, renamed.known, renamed.version.value));
  }
  return made;
}

/** True when a proposal is obsolete. */
function isSettled({ key, source }: Proposal, { units, named }: Circumstances): boolean {
  if (named !== null && !named.has(key)) return false;
  const unit = units.get(key);
  if (unit?.state === 'current' || unit?.state === 'edited') return source !== unit.source?.hash;
  return unit === undefined || (unit.state === undefined && unit.source === undefined);
}
