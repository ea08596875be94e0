/** The plan of an article: what its sections are written by (contract.md G65). */
import { z } from 'zod';

const wishes = (where: string) => z.array(z.string()).describe(`Wishes of the customer ${where}, in short.`);

/** What a model returns. */
export const planOutput = z.object({
  reader: z.string().describe('Who reads this, and what they know already.'),
  question: z.string().describe('The one question they come with, in their words.'),
  thesis: z.string().describe('The one sentence they can repeat afterwards.'),
  promise: z.string().describe('What the title promises, and which section keeps it.'),
  opening: z.boolean().describe('True when the first section is an opening already.'),
  sections: z.array(
    z.object({
      number: z.int().describe('Of the section in the outline.'),
      adds: z.string().describe('What it adds that no other section has.'),
      avoids: z.string().describe('What it leaves to the others.'),
      keywords: z.array(z.string()).describe('The keywords that belong here.'),
      wishes: wishes('for this section'),
    }),
  ),
  openingWishes: wishes('for the opening of the article'),
  endingWishes: wishes('for its end'),
  generalWishes: wishes('for every section'),
});
export type PlanOutput = z.output<typeof planOutput>;

/** What a plan says of one section. */
export interface SectionPlan {
  /** Of the section in the outline. */
  readonly id: string;
  readonly adds: string;
  readonly avoids: string;
  readonly keywords: readonly string[];
  readonly wishes: readonly string[];
}

export interface Plan extends Pick<PlanOutput, 'reader' | 'question' | 'thesis' | 'promise' | 'opening'> {
  /** In the order of the outline; a section may have none. */
  readonly sections: readonly SectionPlan[];
  readonly openingWishes: readonly string[];
  readonly endingWishes: readonly string[];
  readonly generalWishes: readonly string[];
}

/** What is stored of the part `plan`: null when none could be used. */
export interface StoredPlan {
  readonly plan: Plan | null;
}
