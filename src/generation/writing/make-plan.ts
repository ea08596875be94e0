import { type Checked, parseResponse } from '../../providers/ask.ts';
import type { Outline } from '../outline.ts';
import type { Defect, WritingBrief } from './brief.ts';
import { cutPlan } from './cut-plan.ts';
import { type Plan, planOutput } from './plan.ts';
import { requestPart } from './request-part.ts';
import type { ArticleWriter } from './writer.ts';

/** Input of `makePlan`. */
export interface PlanRequest {
  readonly brief: WritingBrief;
  readonly outline: Outline;
  /** Calls with a response in earlier attempts; 0 by default. */
  readonly answered?: number;
  readonly signal: AbortSignal;
}

/**
 * Plans an article from its outline as it stands (contract.md G65), in at most three calls.
 * @throws {ProviderError} of the writer, or `unusable` when no output was usable: the article is then written without one
 */
export async function makePlan(
  writer: ArticleWriter,
  { brief, outline, answered, signal }: PlanRequest,
): Promise<Plan> {
  const article = { outline, plan: null, finished: [], faq: null };
  const { value } = await requestPart<Plan>({
    ask: (rejected) => writer.ask({ kind: 'plan', brief, article, signal, rejected }),
    check: (response) => {
      const parsed = parseResponse(planOutput, response);
      return parsed.ok ? check(cutPlan(parsed.value, outline)) : { value: null, defects: parsed.defects };
    },
    answered,
    what: 'the plan',
    signal,
  });
  return value;
}

/** A plan is usable when it says whom and what the article is for, and something of a section. */
function check(plan: Plan): Checked<Plan, Defect> {
  const defects: Defect[] = (['reader', 'thesis'] as const)
    .filter((name) => plan[name] === '')
    .map((name) => ({ code: 'empty', problem: `${name}: It is empty.` }));
  if (!plan.sections.some(({ adds }) => adds !== '')) {
    defects.push({
      code: 'shape',
      problem: 'sections: No entry has both the number of a section of the outline and "adds".',
    });
  }
  return { value: defects.length === 0 ? plan : null, defects };
}
