import { z } from 'zod';
import type {
  ArticleSuggestions,
  NameSuggestions,
  ProjectSuggestions,
  ProposedCategory,
  Suggestions,
} from '../db/suggestions.ts';
import { canonicalLanguage, codePoints } from '../fields.ts';
import { describeLanguage } from '../language-names.ts';
import { nameKey } from '../name-key.ts';
import { type Checked, type Defect, parseAnswer } from '../providers/ask.ts';
import type { ChatAnswer } from '../providers/chat-model.ts';
import {
  type ArticleQuestion,
  countSuggestions,
  MAX_SUGGESTIONS,
  type NamesQuestion,
  type ProjectQuestion,
  type Question,
} from './model-questions.ts';

/** The shape that models answer in, and the rules that turn an answer into suggestions. */

/** contract.md S2. */
export const MAX_REASON = 300;
export const MAX_NAME = 80;
/** The longest description of what is wrong with an answer. */
const MAX_PROBLEMS = 10;

const language = z.string().describe('The tag of the language that names and reasons are written in.');
const proposal = z.object({
  name: z.string().describe(`A category name of 1 to ${MAX_NAME} characters.`),
  reason: z.string().describe(`One sentence of at most ${MAX_REASON} characters.`),
});

/** What a model is asked to answer with, by the kind of question. Every key is required. */
export const answerSchemas = {
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

/** Which of these names' keys a category of the workspace has, in any language. */
export type FindTaken = (keys: readonly string[]) => Promise<ReadonlySet<string>>;

/**
 * Checks an answer against the question: its schema first, then each suggestion. Unusable suggestions are
 * left out; the answer is unusable when nothing is left of what it had. An empty answer is a usable one.
 */
export async function checkAnswer(
  question: Question,
  answer: ChatAnswer,
  findTaken: FindTaken,
): Promise<Checked<Suggestions>> {
  const defects: Defect[] = [];
  const suggestions = await readAnswer(question, answer, findTaken, defects);
  if (suggestions === null || (countSuggestions(suggestions) === 0 && defects.length > 0)) {
    return { value: null, defects: defects.slice(0, MAX_PROBLEMS) };
  }
  return { value: suggestions, defects: [] };
}

async function readAnswer(
  question: Question,
  answer: ChatAnswer,
  findTaken: FindTaken,
  defects: Defect[],
): Promise<Suggestions | null> {
  switch (question.kind) {
    case 'article_categories': {
      const parsed = parse(answerSchemas.article_categories, answer, defects);
      return parsed && readArticleAnswer(question, parsed, findTaken, defects);
    }
    case 'project_categories': {
      const parsed = parse(answerSchemas.project_categories, answer, defects);
      return parsed && readProjectAnswer(question, parsed, findTaken, defects);
    }
    case 'category_names': {
      const parsed = parse(answerSchemas.category_names, answer, defects);
      return parsed && readNamesAnswer(question, parsed, defects);
    }
  }
}

function parse<Schema extends z.ZodType>(
  schema: Schema,
  answer: ChatAnswer,
  defects: Defect[],
): z.output<Schema> | null {
  const parsed = parseAnswer(schema, answer);
  if (parsed.ok) return parsed.value;
  defects.push(...parsed.defects);
  return null;
}

async function readArticleAnswer(
  question: ArticleQuestion,
  answer: z.output<typeof answerSchemas.article_categories>,
  findTaken: FindTaken,
  defects: Defect[],
): Promise<ArticleSuggestions | null> {
  const { kind, candidates } = question;
  const chosen = new Map<string, ArticleSuggestions['existing'][number]>();
  for (const { number, reason } of answer.existing) {
    const category = candidates[number - 1];
    if (category === undefined)
      defects.push(about('This is not the number of a listed category.', String(number)));
    else if (!chosen.has(category.id)) chosen.set(category.id, { category, reason: cutReason(reason) });
  }
  const existing = [...chosen.values()].slice(0, MAX_SUGGESTIONS);
  // New names only if none of the existing categories fits (contract.md S1).
  if (existing.length > 0) return { kind, existing, proposed: [] };
  if (answer.proposed.length > 0 && !isLanguage(question.language, answer.language, defects)) return null;
  return { kind, existing, proposed: await readProposals(answer.proposed, findTaken, defects) };
}

async function readProjectAnswer(
  { kind, language: asked }: ProjectQuestion,
  answer: z.output<typeof answerSchemas.project_categories>,
  findTaken: FindTaken,
  defects: Defect[],
): Promise<ProjectSuggestions | null> {
  if (answer.categories.length > 0 && !isLanguage(asked, answer.language, defects)) return null;
  return { kind, categories: await readProposals(answer.categories, findTaken, defects) };
}

/** A name that another category has in that language is still suggested: saving decides. */
function readNamesAnswer(
  { kind, targets }: NamesQuestion,
  answer: z.output<typeof answerSchemas.category_names>,
  defects: Defect[],
): NameSuggestions {
  const named = new Map<string, string>();
  for (const { language: tag, name } of answer.names) {
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

/** What a model answered is quoted next to what is wrong with it, shortened, and never inside our own words. */
const about = (problem: string, given: string): Defect => ({
  problem,
  given: [...tidy(given)].slice(0, MAX_NAME).join(''),
});

/** The model says which language it wrote in: one that was not asked for is unusable. */
function isLanguage(asked: string, answered: string, defects: Defect[]): boolean {
  if (targetOf(answered, [asked]) !== null) return true;
  defects.push(about(`The names have to be in ${describeLanguage(asked)}, not in this language.`, answered));
  return false;
}

/** Control characters and lone surrogates, which neither a database nor a page can show, become spaces. */
const tidy = (text: string): string =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(/[\p{Cc}\s\uFFFD]+/gu, ' ')
    .trim();

/** The name as it could be saved, or null when it is empty or too long. */
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
 * Which of the requested languages a model means by its tag. The tag itself comes first;
 * else one that is the same but for a region, or for variants and extensions (`en` for `en-GB`), when only one fits.
 * @param targets canonical tags
 */
function targetOf(tag: string, targets: readonly string[]): string | null {
  const answered = canonicalLanguage(tag);
  if (answered === null) return null;
  if (targets.includes(answered)) return answered;
  const alike = targets.filter((target) => areAlike(answered, target));
  return alike.length === 1 ? (alike[0] ?? null) : null;
}

/** True for `en` and `en-GB`, or `de` and `de-1996`; not for `en-US` and `en-GB`, nor for `zh` and `zh-Hant`, which is another script. */
function areAlike(one: string, other: string): boolean {
  const [first, second] = [new Intl.Locale(one), new Intl.Locale(other)];
  const [a, b] = [first.maximize(), second.maximize()];
  const hasRegions = first.region !== undefined && second.region !== undefined;
  return (
    a.language === b.language && a.script === b.script && (!hasRegions || first.region === second.region)
  );
}
