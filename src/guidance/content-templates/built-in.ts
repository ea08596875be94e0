import type { ContentTemplateId } from '../../ids.ts';

export interface BuiltInTemplate {
  readonly id: ContentTemplateId;
  readonly name: string;
  readonly text: string;
}

const template = (id: string, name: string, text: string): BuiltInTemplate => ({
  id: id as ContentTemplateId,
  name,
  text,
});

/** The templates that every workspace has. Their ids stay as they are: callers keep them. */
export const BUILT_IN_TEMPLATES: readonly BuiltInTemplate[] = [
  template(
    '2bbfb561-c253-4170-a8ef-6a944e311ccb',
    'Article',
    `An article that explains one subject to an interested reader.

Structure
- Open with what the reader gets out of it: the question that brought them here and, in short, the answer. No history of the subject, no definition from a dictionary.
- Give each section one idea, in the order in which a newcomer asks about them: what it is, why it matters, how it works, what follows from it.
- Close with what the reader can do or decide now. Do not repeat the article in short.

Style
- Headings say what their section says, not only what it is about.
- The first sentence of a paragraph carries its point; the rest backs it with a reason, an example or a number.
- Explain a term where it first appears, in half a sentence.
- Claim only what the given facts support, and say where something depends on circumstances.`,
  ),
  template(
    '170f417c-909d-4b82-a4de-e01cec8a494d',
    'How-to guide',
    `A guide that takes the reader from a starting point to a result that they can check.

Structure
- Begin with the result: what will be there in the end, for whom this way is meant and roughly how long it takes.
- Then what is needed before the first step: tools, materials, access, knowledge. Nothing may turn up later that is not in this list.
- One section for each stage, in the order of the work. Within it, numbered steps, one action a step, beginning with the verb.
- After each stage, how the reader sees that it worked.
- Close with the mistakes that happen most often, how each shows itself and how it is put right.

Style
- Address the reader and use the imperative.
- Give quantities, settings and times instead of "some" or "a while".
- Put a warning before the step that it is about, never behind it.
- Give the reason for a step where leaving it out is tempting.`,
  ),
  template(
    '41680c30-7416-47b4-bd8b-c90f3412bca0',
    'Listicle',
    `A list of things worth knowing, each of which can be read on its own.

Structure
- Open with one short paragraph: by what the entries were chosen and in which order they stand. No long preface.
- One section for each entry. Its heading names the entry itself.
- Build all entries alike: what it is, why it is in the list, for whom it is right, and one thing that speaks against it or has to be kept in mind.
- Begin with a strong entry and end with one; every entry earns its place, and none repeats another in other words.
- Close with a sentence or two on how to choose among them.

Style
- Keep entries of about the same length.
- Be concrete: an example, a number or a scene instead of praise.
- No superlative for more than one entry.`,
  ),
  template(
    '2f861fc3-3fcb-498b-84bd-4820feaabb3f',
    'Comparison',
    `A comparison that helps the reader to choose between alternatives.

Structure
- Open with the answer: which alternative suits whom, in two or three sentences. Whoever stops reading there has what they came for.
- Say by what the alternatives are compared, and why these criteria matter to this reader.
- Go through the criteria one by one, a section each, and treat all alternatives in the same order in every one. A table is right where figures or features stand side by side.
- Name what an alternative cannot do as plainly as what it can.
- Close with recommendations by situation: choose the one if this holds, the other if that does.

Style
- The same measure for all: never a strength of the one against a weakness of the other.
- Facts and judgement stay apart, and a judgement gives its reason.
- Where facts are missing, say so instead of guessing. No marketing language for any of them.`,
  ),
  template(
    '32dc77ee-a0bd-45c7-99b2-7d74d7b84b63',
    'News or announcement',
    `A report of something new that has just happened or is about to.

Structure
- The first paragraph answers who, what, when and where, and why it matters to the reader.
- Then what changes for them: what is different from now on, what stays, and what they have to do and by when, if anything.
- Then the background that is needed to judge it, the most important first, so that the text can be cut from its end.
- Close with what comes next and when. No slogans.

Style
- Short sentences and active verbs. Dates are given as dates, not as "soon" or "recently".
- Quotations, names and figures only from the given facts: none is invented.
- Neutral in tone. The weight of the news shows in its consequences, not in adjectives.`,
  ),
];

const byId: ReadonlyMap<string, BuiltInTemplate> = new Map(
  BUILT_IN_TEMPLATES.map((builtIn) => [builtIn.id, builtIn]),
);

export const builtInTemplate = (id: string): BuiltInTemplate | undefined => byId.get(id);
