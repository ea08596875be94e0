/** What models say about their response instead of writing the article, in the languages in which they usually do. */

/** What only a response is, and what an article may speak about as well. */
const RESPONSE = '(?:section|draft|outline|response|rewrite|revision|markdown|faq|(?:meta ?)?description)';
const TEXT = '(?:article|text|answer|paragraph|version|content|questions|title)';
const WORDS = '(?:\\S{1,30} ){0,4}';
const REST = '[^.!?:\\n]{0,120}';
/** What a response is announced with. */
const RESPONSES = [
  new RegExp(
    `^(?:here(?:'|’)s|here is|here are|below is|below are) (?:(?:the|an?|my) ${WORDS}(?:${RESPONSE}\\b${REST}|${TEXT})|your ${WORDS}(?:${RESPONSE}|${TEXT})\\b${REST})(?:[.!:]|$)\\s{0,10}`,
    'i',
  ),
  /^(?:hier ist|hier sind|voici|aquí (?:está|tienes)|ecco|aqui está)(?![\p{L}])[^.!?:\n]{0,60}(?:abschnitt|artikel|text|section|article|texte|sección|artículo|texto|sezione|articolo|testo|seção|artigo)(?![\p{L}])[^.!?:\n]{0,120}(?:[.!:]|$)\s{0,10}/iu,
];
/** At the beginning of a response; what stands behind it stays. */
const OPENINGS = [
  /^(?:sure(?: thing)?|certainly|of course|absolutely|great(?: question)?|okay|ok|got it|no problem|understood|natürlich|gerne|bien sûr|certainement|claro|por supuesto|certo|certamente|конечно)\s{0,3}!+\s{0,10}/iu,
  /^(?:sure(?: thing)?|certainly|of course|absolutely|great|okay|ok|got it|no problem|understood)\s{0,3}[,.:–—-]+\s{0,3}(?=here(?:'|’)?s? (?:is|are|your|the)|i(?:'|’)ll|i (?:will|can|have)|let me|below (?:is|are))/i,
  ...RESPONSES,
  new RegExp(
    `^(?:i(?:'|’)ll|i will|let me|i(?:'|’)ve|i have) (?:now )?(?:write|written|drafted?|rewritten|continue with|prepared?) (?:the|your|this|a|an) ${WORDS}(?:${RESPONSE}|${TEXT})\\b${REST}(?:[.!:]|$)\\s{0,10}`,
    'i',
  ),
];

/** A whole sentence at the end of a response. */
const CLOSINGS = [
  /^(?:please )?(?:let me know if|feel free to (?:ask|reach out|let me know)(?: (?:me|if|for|any)\b|[.!]|$)|i hope (?:this|that|it) (?:helps|is helpful|meets)\b)/i,
  /^(?:shall i|would you like me to|do you want me to) (?:go on|continue|write|expand|adjust|proceed)\b/i,
  /^[([*_]{0,4}(?:total )?(?:word count|words|wörter|anzahl der wörter|nombre de mots|palabras)\s{0,3}[:=]/iu,
  /^[([*_]{0,4}\d{1,5} words[)\]*_.]{0,4}$/i,
  /^[([*_]{0,4}(?:end of (?:the )?(?:section|article|text)|note to (?:the )?(?:editor|author))\b/i,
  /^this (?:section|article|text|draft) (?:has|is|contains|comes to) (?:about |around |approximately )?\d{1,5} words\b/i,
];

/** Anywhere. */
const ANYWHERE = [
  /\bas an? (?:ai|artificial intelligence|large language model|language model)\b(?: (?:language )?(?:model|assistant))?,? i\b/i,
  /\b(?:als (?:eine )?ki(?:-\p{L}{1,30})?|en tant qu['’]ia|como (?:una )?ia|como modelo de (?:lenguaje|linguagem)|in quanto ia|als sprachmodell),? (?:kann|habe|bin|je|no|não|puedo|non|posso)\b/iu,
  /\bi(?:'|’)?m (?:sorry|unable)\b.{0,40}\b(?:can(?:'|’)t|cannot|assist|help|comply|write)\b/i,
  /\b(?:i hope this helps|let me know if you(?:'|’)?d? (?:need|want|would like|have) (?:any|more|further|me|changes|another))\b/i,
  /\[(?:insert|your|todo|placeholder)\b[^\]]{0,80}\]/i,
  /\blorem ipsum\b/i,
];

/** A text that refuses. */
const REFUSALS = [
  /^(?:i(?:'|’)?m (?:very |really )?sorry|sorry|i apologi[sz]e|unfortunately)\b[^\n]{0,60}\bi(?:(?:'|’)m| am| can(?:'|’)?t?| cannot| won(?:'|’)t| will not)\b/i,
  /^i (?:can(?:'|’)t|can ?not|won(?:'|’)t|am (?:not able|unable)|must decline|would rather not) (?:to )?(?:help|assist|write|do|provide|comply|create|continue|fulfil)/i,
  /^(?:es tut mir leid|leider kann ich|(?:je suis )?désolée?[,. ]|lo siento|mi dispiace|desculpe|извините|к сожалению, я)/iu,
];
const MAX_REFUSAL_CHARACTERS = 500;
/** Sentences of an opening or a closing. */
const MAX_SENTENCES = 4;

const SENTENCES = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Characters at the beginning of a text that speak about the response. */
export function openingLength(text: string, said: string): number {
  let at = text.length - text.trimStart().length;
  let end = 0;
  for (let round = 0; round < MAX_SENTENCES; round += 1) {
    const rest = text.slice(at, at + 400);
    const found = OPENINGS.find((pattern) => pattern.test(rest) && !pattern.test(said));
    const [matched = ''] = found?.exec(rest) ?? [];
    if (matched === '') break;
    at += matched.length;
    end = at;
  }
  return end;
}

/** Where the sentences at the end of a text begin that speak about the response; its length without any. */
export function closingStart(text: string, said: string): number {
  const sentences = [...SENTENCES.segment(text)];
  let start = text.length;
  for (const { index, segment } of sentences.slice(-MAX_SENTENCES).toReversed()) {
    const sentence = segment.trim();
    if (sentence === '') continue;
    const isAbout = [...CLOSINGS, ...ANYWHERE].some(
      (pattern) => pattern.test(sentence) && !pattern.test(said),
    );
    if (!isAbout) break;
    start = index;
  }
  return start;
}

/** True when a text in the middle of an article speaks about the response. Honest sentences begin with “Of course”, too. */
export const isChatter = (text: string, said: string): boolean =>
  [...RESPONSES, ...ANYWHERE].some((pattern) => pattern.test(text) && !pattern.test(said));

/** True of a whole response that declines. */
export const isRefusal = (text: string): boolean =>
  text.length <= MAX_REFUSAL_CHARACTERS && REFUSALS.some((pattern) => pattern.test(text.trim()));
