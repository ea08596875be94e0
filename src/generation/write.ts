import type { Database } from '../db/database.ts';
import { voiceFor } from '../guidance/brand-voices/queries.ts';
import { templateFor } from '../guidance/content-templates/queries.ts';
import type { JobId } from '../ids.ts';
import { isUnusable } from '../providers/types.ts';
import type { GenerationConfig } from './config.ts';
import { leaveOut, sectionsLeftOut } from './left-out.ts';
import { articlesFor } from './linkable/assign.ts';
import { findNearest } from './linkable/nearest.ts';
import { countOutlineWords } from './outline.ts';
import {
  firstOf,
  type NewContent,
  NOTES_PART,
  OUTLINE_PART,
  ofKind,
  PLAN_PART,
  type PlannedPart,
  planParts,
  QUESTIONS_PART,
  readParts,
  storePart,
} from './parts.ts';
import type { GenerationPrice } from './price.ts';
import { showWritten } from './progress.ts';
import { CLAIMS_WORDS, VERDICTS_WORDS } from './research/facts.ts';
import { NOTES_WORDS, QUESTIONS_WORDS } from './research/research.ts';
import { partLengths } from './target-lengths.ts';
import { lengthsOf } from './text-parts.ts';
import {
  readWork,
  required,
  type Work,
  type WritingDependencies,
  type WritingTask,
  writePart,
} from './write-part.ts';
import type { WrittenPart } from './writing/brief.ts';
import { makePlan } from './writing/make-plan.ts';
import type { StoredPlan } from './writing/plan.ts';
import { planOutline } from './writing/plan-outline.ts';
import { writeFaq } from './writing/write-faq.ts';
import { writeSection } from './writing/write-section.ts';

/** Words that an outline counts as unpaid work at least, a plan, and the editor's pass. */
const OUTLINE_WORDS = 300;
const PLAN_WORDS = 300;
export const EDITS_WORDS = 300;
/** The parts of research. */
const RESEARCH_PARTS: readonly PlannedPart[] = [
  { part: QUESTIONS_PART, kind: 'questions', words: QUESTIONS_WORDS },
  { part: NOTES_PART, kind: 'notes', words: NOTES_WORDS },
];
/** The parts of fact checking. */
const FACT_PARTS = [
  { kind: 'claims', words: CLAIMS_WORDS },
  { kind: 'verdicts', words: VERDICTS_WORDS },
  { kind: 'corrections', words: EDITS_WORDS },
] as const;
/** Keywords of an article that its writer gets. */
const MAX_OWN_KEYWORDS = 25;

/**
 * Freezes the job's brand voice, template, linkable articles, the writer's name, and the title and keywords that a person
 * gave the article (contract.md G67).
 * @returns `outlined`: the run starts from an approved outline; `outlineOnly`: it ends after the outline; `research`: it
 *   researches first, since its price includes that
 */
export async function validateGeneration(
  { db, writers }: WritingDependencies,
  jobId: JobId,
): Promise<{ outlined: boolean; outlineOnly: boolean; research: boolean }> {
  const { config, price, purpose, ...job } = await db
    .selectFrom('generations')
    .innerJoin('jobs', 'jobs.id', 'generations.job_id')
    .innerJoin('articles', 'articles.id', 'jobs.article_id')
    .select(['jobs.workspace_id', 'jobs.project_id', 'jobs.article_id', 'jobs.purpose', 'config', 'price'])
    .select(['title', 'made_title', 'target_keywords', 'secondary_keywords'])
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const settings = config as GenerationConfig;
  const { brandVoiceId, contentTemplateId, writingQuality } = settings;
  const { workspace_id: workspaceId, project_id: projectId, article_id: articleId, title } = job;
  const voice = await voiceFor(db, { workspaceId, projectId, brandVoiceId });
  const template = await templateFor(db, { workspaceId, contentTemplateId });
  const linkable = await findNearest(db, { workspaceId, projectId, articleId, title, config: settings });
  await db
    .updateTable('generations')
    .set({
      voice,
      template,
      linkable: JSON.stringify(linkable),
      own_title: job.title === job.made_title ? null : job.title,
      own_keywords: [...job.target_keywords, ...job.secondary_keywords].slice(0, MAX_OWN_KEYWORDS),
      writer: writers[writingQuality].name,
    })
    .where('job_id', '=', jobId)
    .execute();
  const research = (price as unknown as GenerationPrice).research > 0;
  await planParts(db, jobId, [
    ...(research ? RESEARCH_PARTS : []),
    { part: OUTLINE_PART, kind: 'outline', words: OUTLINE_WORDS },
  ]);
  const [outline] = ofKind(await readParts(db, jobId), 'outline');
  return { outlined: outline?.content != null, outlineOnly: purpose === 'outline', research };
}

/** Writes the outline, unless it is stored. */
export const makeOutline = (dependencies: WritingDependencies, task: WritingTask): Promise<void> =>
  writePart(dependencies, task, {
    find: firstOf('outline'),
    write: async (writer, { brief }, answered) => {
      const content = await planOutline(writer, { brief, answered, signal: task.signal });
      return { content, words: Math.max(OUTLINE_WORDS, countOutlineWords(content)) };
    },
  });

/** Plans the text, unless that is done. Without a usable plan the sections go by the outline (contract.md G66). */
export async function makeTextPlan(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  const { db } = dependencies;
  const { jobId, signal } = task;
  const store = (plan: StoredPlan) => ({ content: plan, words: PLAN_WORDS });
  await task.persist(() => planParts(db, jobId, [{ part: PLAN_PART, kind: 'plan', words: PLAN_WORDS }]));
  await writePart(dependencies, task, {
    find: firstOf('plan'),
    write: async (writer, { brief, outline }, answered) => {
      const plan = await makePlan(writer, { brief, outline: required(outline), answered, signal });
      return store({ plan });
    },
    doWithout: async (_error, { key }) => {
      await storePart(db, jobId, PLAN_PART, { ...store({ plan: null }), key });
      return true;
    },
  });
}

/**
 * Adds a planned row for each section, for the FAQ, the editor's pass, the lead, and fact checking where it is in the price.
 * @returns the number of sections, whether there is a FAQ, and whether facts are checked
 */
export async function planSections(
  db: Database,
  jobId: JobId,
): Promise<{ sections: number; faq: boolean; facts: boolean }> {
  const { brief, outline, plan } = await readWork(db, jobId);
  const { price } = await db
    .selectFrom('generations')
    .select('price')
    .where('job_id', '=', jobId)
    .executeTakeFirstOrThrow();
  const facts = (price as unknown as GenerationPrice).factChecking > 0;
  const { sections } = required(outline);
  const lengths = lengthsOf(brief.config, plan);
  const texts = partLengths(lengths, required(outline)).map((words, index) => ({
    kind: index < sections.length ? ('section' as const) : ('faq' as const),
    words,
  }));
  const planned = [
    ...texts,
    { kind: 'edits', words: EDITS_WORDS },
    ...(facts ? FACT_PARTS : []),
    { kind: 'lead', words: lengths.lead },
  ] as const;
  await planParts(
    db,
    jobId,
    planned.map((part, index): PlannedPart => ({ ...part, part: PLAN_PART + 1 + index })),
  );
  return { sections: sections.length, faq: brief.config.faq, facts };
}

/**
 * Writes a section, counted from 1, unless it is stored. Those before it must be written. One that no call made usable is left
 * out where the article can do without it.
 */
export async function makeSection(
  dependencies: WritingDependencies,
  task: WritingTask & { readonly section: number },
): Promise<void> {
  const index = task.section - 1;
  const { jobId } = task;
  await writePart(dependencies, task, {
    find: (parts) => ofKind(parts, 'section')[index],
    write: async (writer, work, answered) => {
      const finished = writtenSections(work).slice(0, index);
      const request = { ...basisOf(work), finished, answered, signal: task.signal };
      const articles = articlesFor(request.outline, { index, finished }, work.linkable);
      return contentOf(await writeSection(writer, { ...request, index, articles }));
    },
    doWithout: async (error, { brief, outline, parts }) => {
      if (!isUnusable(error)) return false;
      const last = index + sectionsLeftOut(required(outline), index);
      const numbers = ofKind(parts, 'section').slice(index, last);
      return leaveOut(
        dependencies.db,
        jobId,
        numbers.map(({ part }) => part),
        brief.config,
      );
    },
  });
  await showWritten(dependencies.db, jobId);
}

/** Writes the FAQ, unless it is stored. The sections must be written. */
export async function makeFaq(dependencies: WritingDependencies, task: WritingTask): Promise<void> {
  await writePart(dependencies, task, {
    find: firstOf('faq'),
    write: async (writer, work, answered) => {
      const request = { ...basisOf(work), finished: writtenSections(work), answered, signal: task.signal };
      return contentOf(await writeFaq(writer, request));
    },
  });
  await showWritten(dependencies.db, task.jobId);
}

const writtenSections = ({ parts }: Work): WrittenPart[] =>
  ofKind(parts, 'section').map(({ content }) => content as WrittenPart);

const contentOf = (written: WrittenPart): NewContent => ({
  content: written,
  words: written.words,
  mended: written.mended,
});

const basisOf = ({ brief, outline, plan }: Work) => ({
  ...{ brief, outline: required(outline), plan },
  lead: lengthsOf(brief.config, plan).lead,
});
