/** Fact checking, after the text is written: its claims compared with passages of sources (contract.md N30 to N33). */
import type { Verdict } from '../../db/tables.ts';
import type { SourceId } from '../../ids.ts';
import { type Claim, type ClaimBlock, checkClaims } from '../../research/claims/check-claims.ts';
import { indexPassages } from '../../research/claims/passages.ts';
import { CLAIM_BOUNDS, MAX_CLAIMS } from '../../research/limits.ts';
import type { SourceText } from '../../research/notes/note.ts';
import {
  type ComparedClaim,
  claimsRequest,
  type Judged,
  readProposedClaims,
  readVerdicts,
  verdictsRequest,
} from '../../research/prompts/claims.ts';
import { readSources } from '../../research/store.ts';
import { writeOptionalPart } from '../optional-part.ts';
import { firstOf, ofKind, type Part } from '../parts.ts';
import { textParts } from '../text-parts.ts';
import {
  required,
  takenOver,
  type Work,
  type WritingDependencies,
  type WritingTask,
  writePart,
} from '../write-part.ts';
import { visibleTexts } from '../writing/editing/words.ts';
import { BYTES_PER_TOKEN } from '../writing/prompts/fit.ts';
import { requestPart } from '../writing/request-part.ts';
import { gather, type ResearchDependencies } from './gather.ts';
import { withoutPart } from './research.ts';
import { readPageRows, readPages } from './rows.ts';

/** Words that the claims, and the verdicts, count as unpaid work. */
export const CLAIMS_WORDS = 300;
export const VERDICTS_WORDS = 300;
/** Passages that a claim is compared with. */
const PASSAGES = 3;
/** Of the model's context, for the text, or for claims with passages. */
const SHARE = 0.4;
/** Characters of a text that can hold a claim. */
const MIN_TEXT = 20;

/** The claims of a text as stored: sentences of its blocks. */
export interface StoredClaims {
  readonly claims: readonly Claim[];
}

/** A claim with what was found. */
export interface CheckedSentence extends Claim {
  readonly verdict: Verdict;
  readonly evidence: { readonly sourceId: SourceId; readonly passage: string } | null;
}

export interface StoredVerdicts {
  readonly claims: readonly CheckedSentence[];
  /** How many were compared with a passage. */
  readonly compared: number;
}

export const claimsOf = (parts: readonly Part[]): readonly Claim[] =>
  ((ofKind(parts, 'claims')[0]?.content ?? {}) as Partial<StoredClaims>).claims ?? [];

/** What fact checking found; nothing where the run did not check, or could not. */
export function verdictsOf(parts: readonly Part[]): StoredVerdicts {
  const { claims = [], compared = 0 } = (ofKind(parts, 'verdicts')[0]?.content ??
    {}) as Partial<StoredVerdicts>;
  return { claims, compared };
}

/** Asks which sentences of the finished text can be checked, unless that is stored. */
export async function chooseClaims(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  const { signal } = task;
  await writeOptionalPart(dependencies, task, 'claims', async (writer, work, answered) => {
    const { brief } = work;
    const blocks = blocksToCheck(work, writer.contextTokens * BYTES_PER_TOKEN * SHARE);
    const request = claimsRequest({ date: brief.date, language: brief.config.language }, blocks);
    const { value } = await requestPart<StoredClaims>({
      ask: (rejected) =>
        writer.ask({ kind: 'claims', brief, article: null, request, blocks, signal, rejected }),
      check: (response) => {
        const proposed = readProposedClaims(response);
        const claims = checkClaims(proposed, blocks);
        if (claims.length > 0 || (response.object !== null && proposed.length === 0)) {
          return { value: { claims }, defects: [] };
        }
        const problem = 'claims: None of the sentences is verbatim from its block.';
        return { value: null, defects: [{ code: 'shape', problem }] };
      },
      answered,
      what: 'the claims of the text',
      signal,
    });
    return { content: value, words: CLAIMS_WORDS };
  });
}

/** The texts of the article as shown, as many as there is room for, those with figures first. */
function blocksToCheck(work: Work, bytes: number): ClaimBlock[] {
  const texts = textParts({ ...work, outline: required(work.outline) })
    .flatMap(({ text }) => text.blocks)
    .filter(({ type }) => type === 'paragraph' || type === 'list')
    .flatMap((block) => visibleTexts([block]).map((text) => ({ blockId: block.id, text })))
    .filter(({ text }) => text.length >= MIN_TEXT);
  let left = bytes;
  const fitting = new Set(
    texts
      .toSorted((one, other) => Number(/\p{Nd}/u.test(other.text)) - Number(/\p{Nd}/u.test(one.text)))
      .filter(({ text }) => {
        left -= Buffer.byteLength(text) + BYTES_AROUND;
        return left >= 0;
      }),
  );
  return texts.filter((text) => fitting.has(text));
}

/** Of a line of JSON around a text. */
const BYTES_AROUND = 30;

/** Searches for what the claims say, and reads, unless the verdicts are there or can be taken over. */
export async function findEvidence(
  dependencies: WritingDependencies & ResearchDependencies,
  task: WritingTask,
): Promise<void> {
  const { taken, work } = await takenOver(dependencies, task, firstOf('verdicts'));
  const claims = claimsOf(work.parts);
  if (taken || claims.length === 0) return;
  const read = await task.persist(() => readPageRows(dependencies.db, task));
  await gather(dependencies, {
    ...task,
    workspaceId: work.workspaceId,
    purpose: 'claims',
    bounds: CLAIM_BOUNDS,
    queries: claims.slice(0, MAX_CLAIMS).map(({ sentence }) => sentence),
    known: [...work.notes.map(({ url }) => url), ...read.flatMap(({ url }) => url ?? [])],
  });
}

/** The sources of a run: what it read, and those of the outline that it was approved with. */
async function sourcesOf(
  { db }: WritingDependencies,
  { jobId, persist }: WritingTask,
  { workspaceId, articleId, notes }: Work,
): Promise<SourceText[]> {
  const own = await persist(() => readPages(db, jobId));
  const cited = new Set(notes.map(({ sourceId }) => sourceId));
  const earlier = (await persist(() => readSources(db, { workspaceId, articleId }))).filter(({ id }) =>
    cited.has(id),
  );
  const seen = new Set<string>();
  return [...earlier, ...own].flatMap(({ id, url, title, text }) => {
    if (seen.has(url)) return [];
    seen.add(url);
    return [{ id, title, text }];
  });
}

/** Has a model compare the claims with the nearest passages, unless that is stored. The article does without where that fails. */
export async function compareClaims(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  const { signal } = task;
  await writePart(dependencies, task, {
    find: firstOf('verdicts'),
    write: async (writer, work, answered) => {
      const { brief, parts } = work;
      const { language } = brief.config;
      const claims = claimsOf(parts);
      const index = await indexPassages(await sourcesOf(dependencies, task, work), language);
      const found = claims.map((claim) => ({ claim, passages: index.best(claim.sentence, PASSAGES) }));
      const bytes = writer.contextTokens * BYTES_PER_TOKEN * SHARE;
      const compared = withinRoom(
        found.flatMap(({ claim, passages }) =>
          passages.length === 0 ? [] : [{ sentence: claim.sentence, blockId: claim.blockId, passages }],
        ),
        bytes,
      );
      const judged = compared.length === 0 ? [] : await judge(writer, work, { compared, answered, signal });
      const verdictOf = ({ blockId, sentence }: Claim): Judged => {
        const at = compared.findIndex((each) => each.blockId === blockId && each.sentence === sentence);
        return judged[at] ?? { verdict: 'not_found', passage: null };
      };
      const content: StoredVerdicts = {
        claims: claims.map((claim) => {
          const { verdict, passage } = verdictOf(claim);
          const evidence = passage === null ? null : { sourceId: passage.sourceId, passage: passage.text };
          return { ...claim, verdict, evidence };
        }),
        compared: compared.length,
      };
      return { content, words: VERDICTS_WORDS };
    },
    doWithout: withoutPart(dependencies, task, 'verdicts'),
  });
}

/** The claims with as many of their passages as there is room for: at least the nearest of each of the first. */
function withinRoom<Compared extends ComparedClaim>(claims: readonly Compared[], bytes: number): Compared[] {
  for (let most = PASSAGES; most > 1; most -= 1) {
    const fewer = claims.map((claim) => ({ ...claim, passages: claim.passages.slice(0, most) }));
    if (Buffer.byteLength(JSON.stringify(fewer)) <= bytes) return fewer;
  }
  let left = bytes;
  return claims
    .map((claim) => ({ ...claim, passages: claim.passages.slice(0, 1) }))
    .filter((claim) => {
      left -= Buffer.byteLength(JSON.stringify(claim));
      return left >= 0;
    });
}

type Writer = Parameters<Parameters<typeof writePart>[2]['write']>[0];

async function judge(
  writer: Writer,
  { brief }: Work,
  {
    compared,
    answered,
    signal,
  }: { compared: readonly ComparedClaim[]; answered: number; signal: AbortSignal },
): Promise<readonly Judged[]> {
  const request = verdictsRequest({ date: brief.date, language: brief.config.language }, compared);
  const { value } = await requestPart<readonly Judged[]>({
    ask: (rejected) =>
      writer.ask({ kind: 'verdicts', brief, article: null, request, claims: compared, signal, rejected }),
    check: (response) => {
      if (!response.truncated && Array.isArray(response.object?.verdicts)) {
        return { value: readVerdicts(response, compared), defects: [] };
      }
      return {
        value: null,
        defects: [{ code: 'shape', problem: 'The response does not match the JSON schema.' }],
      };
    },
    answered,
    what: 'the verdicts on the claims',
    signal,
  });
  return value;
}
