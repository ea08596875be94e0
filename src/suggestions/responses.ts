import { z } from 'zod';
import type {
  ArticleSuggestions,
  NameSuggestions,
  ProjectSuggestions,
  ProposedCategory,
  Suggestions,
} from '../db/suggestions.ts';
import { canonicalLanguage, codePoints } from '../fields.ts';
import { describeLanguage, sharesWriting } from '../language-names.ts';
import { nameKey } from '../name-key.ts';
import { type Checked, type Defect, parseResponse } from '../providers/ask.ts';
import type { ChatResponse } from '../providers/chat-model.ts';
import {
  type ArticleQuestion,
  countSuggestions,
  MAX_SUGGESTIONS,
  type NamesQuestion,
  type ProjectQuestion,
  type Question,
} from './model-questions.ts';

/** The shape of models' responses, and the checks that turn a response into suggestions. */

/** contract.md S2. */
export const MAX_REASON = 300;
export const MAX_NAME = 80;
/** The most defects reported for a response. */
const MAX_PROBLEMS = 10;

const language = z.string().describe('The tag of the language that names and reasons are written in.');
const proposal = z.object({
  name: z.string().describe(`A category name of 1 to ${MAX_NAME} characters.`),
  reason: z.string().describe(`One sentence of at most ${MAX_REASON} characters.`),
});

/** The shape of a model's response, by the kind of question. Every key is required. */
export const responseSchemas = {
  article_categories: z.object({
    language,
    existing: z.array(
      z.object({
        number: z.int().describe('The number of a listed category.'),
        reason: z.string().describe(`One sentence of at most ${MAX_REASON} characters.`),
      }),
    ),
    proposed: z.array(proposal),
  }),
  project_categories: z.object({ language, categories: z.array(proposal) }),
  category_names: z.object({
    names: z.array(
      z.object({
        language: z.string().describe('One of the requested language tags.'),
        name: z.string().describe(`The translated name, 1 to ${MAX_NAME} characters.`),
      }),
    ),
  }),
} as const satisfies Record<Question['kind'], z.ZodType>;

/** Returns the name keys that categories of the workspace already have, in any language. */
export type FindTaken = (keys: readonly string[]) => Promise<ReadonlySet<string>>;

/**
 * Checks a response against the question: its schema first, then each suggestion. Unusable suggestions are dropped; the
 * response is unusable when none is left. An empty response is usable.
 */
export async function checkResponse(
  question: Question,
  response: ChatResponse,
  findTaken: FindTaken,
): Promise<Checked<Suggestions>> {
  const defects: Defect[] = [];
  const suggestions = await readResponse(question, response, findTaken, defects);
  if (suggestions === null || (countSuggestions(suggestions) === 0 && defects.length > 0)) {
    return { value: null, defects: defects.slice(0, MAX_PROBLEMS) };
  }
  return { value: suggestions, defects: [] };
}

async function readResponse(
  question: Question,
  response: ChatResponse,
  findTaken: FindTaken,
  defects: Defect[],
): Promise<Suggestions | null> {
  switch (question.kind) {
    case 'article_categories': {
      const parsed = parse(responseSchemas.article_categories, response, defects);
      return parsed && readArticleResponse(question, parsed, findTaken, defects);
    }
    case 'project_categories': {
      const parsed = parse(responseSchemas.project_categories, response, defects);
      return parsed && readProjectResponse(question, parsed, findTaken, defects);
    }
    case 'category_names': {
      const parsed = parse(responseSchemas.category_names, response, defects);
      return parsed && readNamesResponse(question, parsed, defects);
    }
  }
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  response: ChatResponse,
  defects: Defect[],
): z.output<Schema> | null {
  const parsed = parseResponse(schema, response);
  if (parsed.ok) return parsed.value;
  defects.push(...parsed.defects);
  return null;
}

async function readArticleResponse(
  question: ArticleQuestion,
  response: z.output<typeof responseSchemas.article_categories>,
  findTaken: FindTaken,
  defects: Defect[],
): Promise<ArticleSuggestions | null> {
  const { kind, candidates } = question;
  const chosen = new Map<string, ArticleSuggestions['existing'][number]>();
  for (const { number, reason } of response.existing) {
    const category = candidates[number - 1];
    if (category === undefined)
      defects.push(about('This is not the number of a listed category.', String(number)));
    else if (!chosen.has(category.id)) chosen.set(category.id, { category, reason: cutReason(reason) });
  }
  const existing = [...chosen.values()].slice(0, MAX_SUGGESTIONS);
  // New names only if none of the existing categories fits (contract.md S1).
  if (existing.length > 0) return { kind, existing, proposed: [] };
  if (response.proposed.length > 0 && !isLanguage(question.language, response.language, defects)) return null;
  return { kind, existing, proposed: await readProposals(response.proposed, findTaken, defects) };
}

async function readProjectResponse(
  { kind, language: wanted }: ProjectQuestion,
  response: z.output<typeof responseSchemas.project_categories>,
  findTaken: FindTaken,
  defects: Defect[],
): Promise<ProjectSuggestions | null> {
  if (response.categories.length > 0 && !isLanguage(wanted, response.language, defects)) return null;
  return { kind, categories: await readProposals(response.categories, findTaken, defects) };
}

/** A name that another category has in that language is still suggested: saving checks it. */
function readNamesResponse(
  { kind, targets }: NamesQuestion,
  response: z.output<typeof responseSchemas.category_names>,
  defects: Defect[],
): NameSuggestions {
  const named = new Map<string, string>();
  for (const { language: tag, name } of response.names) {
    const target = targetOf(tag, targets);
    const clean = cleanName(name);
    if (target === null) defects.push(about('This language was not requested.', tag));
    else if (clean === null)
      defects.push(about(`The name in ${target} does not have 1 to ${MAX_NAME} characters.`, name));
    else if (!named.has(target)) named.set(target, clean);
  }
  if (named.size === 0) defects.push({ problem: `There is no usable name in any of ${targets.join(', ')}.` });
  return {
    kind,
    names: targets.flatMap((tag) => {
      const name = named.get(tag);
      return name === undefined ? [] : [{ language: tag, name }];
    }),
  };
}

async function readProposals(
  proposals: readonly ProposedCategory[],
  findTaken: FindTaken,
  defects: Defect[],
): Promise<ProposedCategory[]> {
  const named = new Map<string, ProposedCategory>();
  for (const { name, reason } of proposals) {
    const clean = cleanName(name);
    if (clean === null) {
      defects.push(about(`This name does not have 1 to ${MAX_NAME} characters.`, name));
      continue;
    }
    const key = nameKey(clean);
    if (!named.has(key)) named.set(key, { name: clean, reason: cutReason(reason) });
  }
  if (named.size === 0) return [];
  const taken = await findTaken([...named.keys()]);
  const free = [...named].filter(([key]) => !taken.has(key)).map(([, category]) => category);
  for (const [key, { name }] of named) {
    if (taken.has(key)) defects.push(about('The workspace already has a category with this name.', name));
  }
  return free.slice(0, MAX_SUGGESTIONS);
}

/** A defect with the model's own text next to it, shortened, never inside our wording. */
const about = (problem: string, given: string): Defect => ({
  problem,
  given: [...tidy(given)].slice(0, MAX_NAME).join(''),
});

/** Checks the language that the model says it wrote in. */
function isLanguage(wanted: string, found: string, defects: Defect[]): boolean {
  if (targetOf(found, [wanted]) !== null) return true;
  defects.push(about(`The names have to be in ${describeLanguage(wanted)}, not in this language.`, found));
  return false;
}

/** Replaces control characters and lone surrogates, which cannot be stored or shown, with spaces. */
const tidy = (text: string): string =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\s\uFFFD]+/gu, ' ')
    .trim();

/** The name in a form that can be saved; null when it is empty or too long. */
function cleanName(name: string): string | null {
  const clean = tidy(name);
  const length = codePoints(clean);
  return length >= 1 && length <= MAX_NAME ? clean : null;
}

/** The reason, cut to 300 code points (contract.md S2). */
function cutReason(reason: string): string {
  const characters = [...tidy(reason)];
  return characters.length <= MAX_REASON
    ? characters.join('')
    : `${characters.slice(0, MAX_REASON - 1).join('')}…`;
}

/**
 * The requested language that a model's tag refers to: the tag itself, or the only one that differs just by region,
 * variants or extensions (`en` for `en-GB`).
 * @param targets canonical tags
 */
function targetOf(tag: string, targets: readonly string[]): string | null {
  const found = canonicalLanguage(tag);
  if (found === null) return null;
  if (targets.includes(found)) return found;
  const alike = targets.filter((target) => areAlike(found, target));
  return alike.length === 1 ? (alike[0] ?? null) : null;
}

/** True for `en` and `en-GB`, or `de` and `de-1996`; false for `en-US` and `en-GB`, or `zh` and `zh-Hant` (scripts). */
function areAlike(one: string, other: string): boolean {
  const [first, second] = [new Intl.Locale(one), new Intl.Locale(other)];
  const hasRegions = first.region !== undefined && second.region !== undefined;
  return sharesWriting(one, other) && (!hasRegions || first.region === second.region);
}
