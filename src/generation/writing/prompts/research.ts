/** Questions of research: their requests are made in src/research, whole, so that a model sees nothing else. */
import { conversation } from '../../../providers/ask.ts';
import type { ClaimBlock } from '../../../research/claims/check-claims.ts';
import type { SourceText } from '../../../research/notes/note.ts';
import { CLAIMS_VERSION, type ComparedClaim, VERDICTS_VERSION } from '../../../research/prompts/claims.ts';
import { QUESTIONS_VERSION } from '../../../research/prompts/questions.ts';
import type { ResearchRequest, Topic } from '../../../research/prompts/shared.ts';
import { NOTES_VERSION } from '../../../research/prompts/take-notes.ts';
import { outputLimit, type TokenLimits } from '../output-tokens.ts';
import type { Asking } from './shared.ts';

export const RESEARCH_VERSIONS = {
  questions: QUESTIONS_VERSION,
  notes: NOTES_VERSION,
  claims: CLAIMS_VERSION,
  verdicts: VERDICTS_VERSION,
} as const;

interface Researching<Kind extends keyof typeof RESEARCH_VERSIONS> extends Asking<Kind> {
  readonly request: ResearchRequest;
}

/** What to search for. */
export interface QuestionsQuestion extends Researching<'questions'> {
  readonly topic: Topic;
}

/** Quotes of sources, numbered from 1. */
export interface NotesQuestion extends Researching<'notes'> {
  readonly sources: readonly SourceText[];
}

/** Sentences that can be checked, of blocks numbered from 1. */
export interface ClaimsQuestion extends Researching<'claims'> {
  readonly blocks: readonly ClaimBlock[];
}

/** How claims compare with passages. */
export interface VerdictsQuestion extends Researching<'verdicts'> {
  readonly claims: readonly ComparedClaim[];
}

export type ResearchQuestion = QuestionsQuestion | NotesQuestion | ClaimsQuestion | VerdictsQuestion;

/** The question as a model gets it, with what was wrong with its earlier response. */
export function researchRequest(
  { request, rejected }: ResearchQuestion,
  limits: TokenLimits,
): {
  readonly instructions: string;
  readonly messages: ReturnType<typeof conversation>;
  readonly schema: ResearchRequest['schema'];
  readonly maxTokens: number;
} {
  const { instructions, messages, schema, maxTokens } = request;
  return {
    instructions,
    messages: conversation(messages.map(({ text }) => text).join('\n'), rejected),
    schema,
    maxTokens: outputLimit(maxTokens, limits),
  };
}
