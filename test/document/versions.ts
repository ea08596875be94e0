/** A source, the version made of it, and what people then do to both. */
import fc from 'fast-check';
import { dropDeadLinks } from '../../src/document/format/links.ts';
import type { Block, DocumentJson } from '../../src/document/format/schema.ts';
import { mapTexts } from '../../src/document/format/walk.ts';
import { parsingOnce } from '../../src/document/inline/parse.ts';
import { applyRefresh } from '../../src/document/refresh/apply.ts';
import { decide } from '../../src/document/refresh/decide.ts';
import { newDraft, planDraft } from '../../src/document/refresh/draft.ts';
import { planRefresh, segmentsToSend } from '../../src/document/refresh/plan.ts';
import type { Proposal, Provenance, RefreshOptions, RefreshPlan } from '../../src/document/refresh/types.ts';
import type { Segment } from '../../src/document/translation/segments.ts';
import type { Snapshot } from '../../src/document/translation/source.ts';
import { type AssetId, type JobId, newId, type ProposalId } from '../../src/ids.ts';
import { pseudoLocalize } from '../../src/providers/pseudo.ts';
import { anyBlock, snapshotOf } from './arbitraries.ts';

/** A property in each case of which every text is parsed once. */
export const parsedOnce = ((...given: Parameters<typeof fc.property>) => {
  const check = given.pop() as unknown as (...values: unknown[]) => undefined;
  const values = given as unknown as [fc.Arbitrary<unknown>];
  return fc.property(...values, (...each) => parsingOnce(() => check(...each)));
}) as typeof fc.property;

export const NOTHING: Snapshot = {
  title: '',
  metaTitle: null,
  metaDescription: null,
  targetKeywords: [],
  secondaryKeywords: [],
  document: { version: 1, blocks: [] },
  assets: [],
};

const translated = (segments: readonly Segment[]) =>
  new Map(segments.map(({ key, text }) => [key, pseudoLocalize(text)]));

export const copyIdsFor = (assets: Snapshot['assets']) =>
  new Map(assets.map(({ id }) => [id as string, newId<AssetId>()]));

export interface Version {
  readonly content: Snapshot;
  readonly provenance: Provenance;
}

/** A plan as it is stored until it is applied. */
const stored = (plan: RefreshPlan): RefreshPlan => JSON.parse(JSON.stringify(plan)) as RefreshPlan;

/** Plans a first translation, has its texts translated, and fills the draft. */
export const fill = (source: Snapshot, draft = newDraft(source.title), madeTitle = source.title) =>
  parsingOnce(() => fillDraft(source, draft, madeTitle));

function fillDraft(source: Snapshot, draft: Snapshot, madeTitle: string) {
  const plan = stored(planDraft(source, draft, madeTitle));
  const input = {
    translations: translated(segmentsToSend(plan)),
    current: draft,
    provenance: null,
    oldSources: {},
    copyIds: copyIdsFor(plan.copies),
    proposeAll: false,
  };
  return { plan, input, result: applyRefresh(plan, input) };
}

/** A new translation, as it is written. */
export function translateNew(source: Snapshot): Version {
  const { content, provenance } = fill(source).result;
  return { content, provenance };
}

/** What has become of a version while its refresh ran. */
interface Meanwhile {
  readonly current?: Snapshot;
  readonly provenance?: Provenance | null;
  readonly proposeAll?: boolean;
}

interface Refreshable {
  readonly content: Snapshot;
  readonly provenance: Provenance | null;
}

/** Plans a refresh, has its texts translated, and applies it to the version as it is by then. */
export const refresh = (
  source: Snapshot,
  version: Refreshable,
  options: Partial<RefreshOptions> = {},
  meanwhile: Meanwhile = {},
) => parsingOnce(() => refreshVersion(source, version, options, meanwhile));

function refreshVersion(
  source: Snapshot,
  version: Refreshable,
  options: Partial<RefreshOptions>,
  { current = version.content, provenance = version.provenance, proposeAll = false }: Meanwhile,
) {
  const plan = stored(
    planRefresh(source, version.content, version.provenance, {
      apply: 'untouched',
      proposed: [],
      ...options,
    }),
  );
  const segments = segmentsToSend(plan);
  const result = applyRefresh(plan, {
    translations: translated(segments),
    current,
    provenance,
    oldSources: {},
    copyIds: copyIdsFor(plan.copies),
    proposeAll,
  });
  return { plan, segments, result };
}

const AT = '2026-11-23T05:00:00.000Z';

/** Decisions about proposals, as of one refresh. */
export const decisions = (proposals: readonly Proposal[], isAccepted: boolean) =>
  proposals.map((proposal) => ({
    id: newId<ProposalId>(),
    jobId: 'job' as JobId,
    isAccepted,
    proposal,
  }));

const decideOne = (
  content: Snapshot,
  provenance: Provenance | null,
  proposal: Proposal,
  isAccepted: boolean,
) => decide(content, provenance, decisions([proposal], isAccepted), AT);

/** The version after one proposal is accepted; null when it cannot be. */
export function acceptProposal(content: Snapshot, provenance: Provenance | null, proposal: Proposal) {
  const decided = decideOne(content, provenance, proposal, true);
  return decided.ok ? decided.result : null;
}

/** What is kept about the version after one proposal is rejected. */
export function rejectProposal(content: Snapshot, provenance: Provenance | null, proposal: Proposal) {
  const decided = decideOne(content, provenance, proposal, false);
  if (!decided.ok) throw new Error('A rejection cannot be refused.');
  return { provenance: decided.result.provenance, sources: decided.result.sources };
}

/** The open proposals once a refresh has been stored. */
export function openAfter(
  before: readonly Proposal[],
  { proposals, settled }: { readonly proposals: readonly Proposal[]; readonly settled: readonly string[] },
): Proposal[] {
  const gone = new Set([...settled, ...proposals.map(({ key }) => key)]);
  return [...before.filter(({ key }) => !gone.has(key)), ...proposals];
}

/** What a person does to an article; `at` and `to` are taken modulo what there is. */
export interface Edit {
  readonly what:
    | 'text'
    | 'structure'
    | 'addPart'
    | 'dropPart'
    | 'move'
    | 'insert'
    | 'remove'
    | 'renewId'
    | 'meta';
  readonly at: number;
  readonly to: number;
  readonly block: Block;
}

/** Texts of a block that stand in a list: its items, its rows. */
type Parts = { items?: string[]; children?: unknown[]; rows?: string[][] };

export function edit(article: Snapshot, edits: readonly Edit[], idPrefix: string): Snapshot {
  let { document, ...fields } = structuredClone(article) as Snapshot;
  for (const [count, { what, at, to, block }] of edits.entries()) {
    const blocks = document.blocks as Block[];
    const index = blocks.length === 0 ? 0 : at % blocks.length;
    const chosen = blocks[index];
    const fresh = { ...structuredClone(block), id: `${idPrefix}${count}` };
    if (what === 'insert') blocks.splice(to % (blocks.length + 1), 0, fresh);
    if (what === 'meta') fields = editMeta(fields as Snapshot, at, to);
    if (chosen === undefined) continue;
    if (what === 'text') document = editText(document, index, to);
    if (what === 'structure') blocks[index] = { ...fresh, id: chosen.id };
    if (what === 'remove') blocks.splice(index, 1);
    if (what === 'move') blocks.splice(to % blocks.length, 0, ...blocks.splice(index, 1));
    if (what === 'renewId') blocks[index] = { ...chosen, id: fresh.id };
    const parts = chosen as Parts;
    if (what === 'addPart') {
      if (parts.items) parts.items.splice(to % (parts.items.length + 1), 0, `added item ${count}`);
      if (parts.items && parts.children) parts.children.splice(to % parts.items.length, 0, null);
      const [row] = parts.rows ?? [];
      if (row)
        parts.rows?.splice(
          to % (parts.rows.length + 1),
          0,
          row.map(() => `added cell ${count}`),
        );
    }
    if (what === 'dropPart') {
      const drop = to % (parts.items?.length ?? 1);
      if (parts.items && parts.items.length > 1) {
        parts.items.splice(drop, 1);
        parts.children?.splice(drop, 1);
      }
      if (parts.rows && parts.rows.length > 0) parts.rows.splice(to % parts.rows.length, 1);
    }
  }
  return { ...fields, document: dropDeadLinks(document) };
}

function editText(document: DocumentJson, block: number, at: number): DocumentJson {
  const own = `block.${block}.`;
  let fields = 0;
  mapTexts(document, ({ key, text }) => {
    if (key.startsWith(own)) fields += 1;
    return { text };
  });
  let seen = -1;
  return mapTexts(document, ({ key, text, links }) => {
    if (key.startsWith(own)) seen += 1;
    const edited = key.startsWith(own) && seen === at % fields ? `${text} edited ${at}` : text;
    return links.length > 0 ? { text: edited, links: [...links] } : { text: edited };
  });
}

function editMeta(article: Snapshot, at: number, to: number): Snapshot {
  const text = `changed ${to}`;
  const edits: Partial<Snapshot>[] = [
    { title: text },
    { metaTitle: article.metaTitle === null ? text : null },
    { metaDescription: text },
    { targetKeywords: [...article.targetKeywords, text] },
    { secondaryKeywords: article.secondaryKeywords.slice(1) },
    { assets: article.assets.slice(1) },
    { assets: article.assets.map((asset) => ({ ...asset, altText: text })) },
  ];
  return { ...article, ...edits[at % edits.length] };
}

const kinds = [
  'text',
  'text',
  'structure',
  'addPart',
  'dropPart',
  'move',
  'insert',
  'remove',
  'renewId',
  'meta',
] as const;

export const edits = (maxLength: number, what: readonly Edit['what'][] = kinds): fc.Arbitrary<Edit[]> =>
  fc.array(
    fc.record({ what: fc.constantFrom(...what), at: fc.nat(1_000), to: fc.nat(1_000), block: anyBlock }),
    { maxLength },
  );

/** A source with enough blocks for few edits not to look like another article; its images show in its body. */
export const anySource: fc.Arbitrary<Snapshot> = fc
  .tuple(snapshotOf(fc.constant(NOTHING.document)), fc.array(anyBlock, { minLength: 8, maxLength: 14 }))
  .map(([snapshot, blocks]) => ({
    ...snapshot,
    document: dropDeadLinks({
      version: 1 as const,
      blocks: blocks.map((block, index): Block => {
        const image = snapshot.assets[index % 3];
        const shown = block.type === 'image' && image !== undefined ? { ...block, assetId: image.id } : block;
        return { ...shown, id: `b${index}` };
      }),
    }),
  }));
