import { NOT_INSTRUCTIONS, type Prompt, pairOf } from './shared.ts';

/** Draws the style sheet of a version. */
export const DRAW_STYLE_SHEET: Prompt = {
  version: 1,
  instructions: (languages) =>
    [
      `You are a professional translator. An article is about to be translated in parts, from ${pairOf(languages)}. Draw up its style sheet, so that all parts agree.`,
      NOT_INSTRUCTIONS,
      '"texts" are texts of the article in reading order, "about" is its context. Answer with a JSON object. Choose one of the values that each field may have, "usual" where the standard of the target language suffices. What about.style decides is decided.',
      'address: how readers are addressed; formal, unless the article clearly speaks to them as friends or the language always does. gender: words for readers and persons of unknown gender; neutral wording comes before doubled forms. quotes, numbers, dates: as publishers of that language write them. titleCase: of titles and headings. variant: the variety of the language for these readers.',
      'terms: pairs, the most frequent first, as many as "limit" at most. "source" is a term as it stands in the texts, "target" its one translation in its base form: the word that specialists and readers use, often not the literal one. Choose terms of the subject, and names of things and roles, that occur several times and could be translated in more than one way. Leave out common words, and terms of about.glossary and about.terms. A term has at most 60 characters, and no tags, quotes or line breaks.',
    ].join('\n'),
};
