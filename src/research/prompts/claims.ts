import { z } from 'zod';
import type { Verdict } from '../../db/tables.ts';
import { parseResponse } from '../../providers/ask.ts';
import type { ChatResponse } from '../../providers/chat-model.ts';
import { strictSchema } from '../../providers/strict-schema.ts';
import type { ClaimBlock, ProposedClaim } from '../claims/check-claims.ts';
import type { Passage } from '../claims/passage.ts';
import { MAX_CLAIMS } from '../limits.ts';
import { dataLine, type ResearchRequest, researcher, type Topic } from './shared.ts';

/** Counted up with every change of the words. */
export const CLAIMS_VERSION = 1;
export const VERDICTS_VERSION = 1;

const MAX_TOKENS = 3_000;

const claimsOutput = z.object({
  claims: z.array(
    z.object({
      block: z.int().describe('The number of the block.'),
      sentence: z.string().describe('A sentence of it, copied exactly.'),
    }),
  ),
});
const verdictsOutput = z.object({
  verdicts: z.array(
    z.object({
      claim: z.int().describe('The number of the claim.'),
      verdict: z.enum(['supported', 'contradicted', 'not_found']),
      passage: z.int().nullable().describe('The number of the passage that decides it; null for not_found.'),
    }),
  ),
});

/** Asks a model for the sentences of an article that can be checked. Blocks are numbered from 1. */
export const claimsRequest = (
  topic: Pick<Topic, 'date' | 'language'>,
  blocks: readonly ClaimBlock[],
): ResearchRequest => ({
  instructions: researcher(topic, [
    `Choose the sentences of the article that a source could prove or disprove: figures, dates, names, rules, causes, comparisons. At most ${MAX_CLAIMS}, those first whose error would do a reader most harm.`,
    'Copy each exactly as it stands in its block. No opinions, no advice, no questions, nothing that the customer says about their own matter, no sentence that means nothing without the one before it.',
  ]),
  messages: [
    { role: 'user', text: blocks.map(({ text }, at) => dataLine({ block: at + 1, text })).join('\n') },
  ],
  schema: strictSchema(claimsOutput),
  maxTokens: MAX_TOKENS,
});

/** The proposals of a response, unchecked: see `checkClaims`. */
export function readProposedClaims(response: ChatResponse): readonly ProposedClaim[] {
  const parsed = parseResponse(claimsOutput, response);
  return parsed.ok ? parsed.value.claims : [];
}

/** A claim with the passages that it is compared with. */
export interface ComparedClaim {
  readonly sentence: string;
  readonly passages: readonly Passage[];
}

/** Asks a model how claims compare with their passages. Claims are numbered from 1, and passages within each claim. */
export const verdictsRequest = (
  topic: Pick<Topic, 'date' | 'language'>,
  claims: readonly ComparedClaim[],
): ResearchRequest => ({
  instructions: researcher(topic, [
    'Compare each claim with its passages, and with nothing else: what you know does not count.',
    'supported: a passage says the same, its figures and conditions included. contradicted: a passage says something that cannot be true together with the claim. not_found: no passage decides it, also when they only are about the same thing. Where passages disagree, contradicted.',
  ]),
  messages: [
    {
      role: 'user',
      text: claims
        .map(({ sentence, passages }, at) =>
          dataLine({
            claim: at + 1,
            sentence,
            passages: passages.map(({ text }, number) => ({ passage: number + 1, text })),
          }),
        )
        .join('\n'),
    },
  ],
  schema: strictSchema(verdictsOutput),
  maxTokens: MAX_TOKENS,
});

/** How a claim compares with the passage that decides it. */
export interface Judged {
  readonly verdict: Verdict;
  /** Null only for not_found. */
  readonly passage: Passage | null;
}

const NOT_FOUND: Judged = { verdict: 'not_found', passage: null };

/**
 * The verdict on each claim, in their order. One without a passage that it was given is `not_found`, whatever the model says; of two
 * on a claim the first counts (contract.md N15).
 */
export function readVerdicts(response: ChatResponse, claims: readonly ComparedClaim[]): readonly Judged[] {
  const parsed = parseResponse(verdictsOutput, response);
  const verdicts = parsed.ok ? parsed.value.verdicts : [];
  return claims.map(({ passages }, at) => {
    const given = verdicts.find(({ claim }) => claim === at + 1);
    const passage = given?.passage == null ? undefined : passages[given.passage - 1];
    return given === undefined || given.verdict === 'not_found' || passage === undefined
      ? NOT_FOUND
      : { verdict: given.verdict, passage };
  });
}
