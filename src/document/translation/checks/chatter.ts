/** Remarks of a model around a translation. */
import { type Defect, hard, soft } from './defects.ts';

/** Stems of "translation" in the languages that models use for such remarks. */
const TRANSLATION =
  /translat|übersetz|uebersetz|traducci|traduc|traduç|tradução|traduz|traduzione|vertal|перев[оё]д|переклад|翻訳|翻译|翻譯|译文|譯文|訳文|번역|ترجم|תרגום|tłumacz|překlad|preklad|overs[æa]t|översätt|käännö|çevir|अनुवाद|fordít|traducere|μετάφρασ|превод|dịch|terjemah/iu;

/** A lead-in: a first line or sentence that ends with a colon. */
const LEAD = /^[^\n:：]{2,100}[:：](?=\s|["'“„«「*`]|$|\p{L})/u;

/** Words of friendly openings. */
const GREETINGS = `sure|certainly|of course|absolutely|no problem|happy to help|here you go|here['’]?s|here is|here are|i['’]ve|as requested|claro(?: que sí)?|por supuesto|aquí (?:está|tiene|tienes)|natürlich|gerne|selbstverständlich|hier ist|bien sûr|voici|certo|ecco|claro|aqui está|конечно|вот|もちろん|承知しました|はい、|以下|当然|好的|以下是|بالتأكيد|بالطبع|إليك|تفضل`;
const GREETING = new RegExp(String.raw`^(?:${GREETINGS})(?![\p{L}\p{M}])`, 'iu');

/** A separate greeting before the text: "Sure!", "好的，". */
const INTERJECTION =
  /^(?:sure|certainly|of course|absolutely|no problem|¡?claro|por supuesto|gerne|bien sûr|конечно|もちろんです?|好的|当然可以|بالتأكيد|بالطبع)\s?[!！]/iu;

/** A source that opens in such a way, or says what follows, in any language that articles are written in. */
const OPENS_SO = new RegExp(
  String.raw`^[¡\s"“„«]*(?:${GREETINGS}|yes|naturally|definitely|gladly|obviously|ja|sicher|gewiss|klar|sí|desde luego|oui|certes|sì|sim|да|разумеется|はい|是的|نعم)(?![\p{L}\p{M}])|\b(?:here|follow|below|hier|folgend|siguiente|suivant|seguent|seguinte)|вот|здесь|следующ|以下|次の|如下|下列|التالي|يلي|^[¡\s]*[\p{L}\s]{2,24}[!！]`,
  'iu',
);

/** A note on the translation. */
const NOTE =
  /(?:^|[\n(（[【*]|[.!?。！？…][)"”»]?\s)\s?\*{0,2}(?:(?:translator['’]?s )?notes?|n\. ?b\.|(?:übersetzer-?)?(?:anmerkung|hinweis)(?:en)?|notas?(?: del traductor| do tradutor)?|remarques?|nota del traduttore|note du traducteur|примечани[ея](?: переводчика)?|注意?|注释|译注|译者注|訳注|備考|ملاحظة|ملحوظة|참고|opmerking|uwaga)\s?\*{0,2}\s?[:：]/iu;

/** Words that a note is the honest translation of. */
const NOTES_SO =
  /\b(?:not(?:e[ds]?|ing|ices?)\b|n\. ?b\.|remarks?\b|mind\b|attention|caution|warning|careful|beware|remember|reminder|disclaimer|anmerk|hinweis|beacht|achtung|vorsicht|notas?\b|tenga en cuenta|atención|remarque|noter\b|avertissement|avviso|attenzione|atenção|observ|opmerking|let op|uwaga)|примеч|вниман|заметьте|учтите|обратите|注意|注释|注釋|注記|备注|備註|留意|備考|小心|ملاحظ|ملحوظ|انتب|لاحظ|참고|주의|유의/iu;

/** A note in brackets after the last sentence. */
const REMARK = /\p{P}\s*[(（[](?=[^()（）[\]]*\p{L})[^()（）[\]]*[)）\]]\s*$/u;

/** A JSON object instead of a text. */
const WRAPPED = /^\s*[{[]\s*"(?:translation|text|translated\w*|target|result)"\s*:/i;

const QUOTES = /^["“”„‟«»‹›「‘'].*["“”‟«»‹›」』’']$/su;
const QUOTE_AT_EITHER_END = /^[\s(]*["“”„‟«»‹›「『‘'«]|["“”‟«»‹›」』’'][\s).,!?。]*$/u;

/**
 * Finds a model's remarks in a translation; both texts without markup. Words that the source says itself are no remark
 * (contract.md V39). Only an object around the text makes it unusable.
 */
export function checkChatter(source: string, translated: string): Defect[] {
  const text = translated.trim();
  const lead = LEAD.exec(text)?.[0];
  const isAbout = lead !== undefined && TRANSLATION.test(lead) && !TRANSLATION.test(source);
  const greets =
    (lead !== undefined && GREETING.test(text) && !/[:：]/u.test(source)) || INTERJECTION.test(text);
  const found = [
    (isAbout || (greets && !OPENS_SO.test(source))) && 'the introduction before the text',
    text.includes('```') && !source.includes('```') && 'the code fence',
    NOTE.test(text) && !/[:：]/u.test(source) && !NOTES_SO.test(source) && 'the note',
    /\n\s*\n/.test(text) && !/\n\s*\n/.test(source.trim()) && 'the added paragraph',
    REMARK.test(text) && !/[(（[]/.test(source) && 'the remark in brackets after the text',
    QUOTES.test(text) && !QUOTE_AT_EITHER_END.test(source) && 'the pair of quotation marks around the text',
  ].filter((what) => what !== false);
  const defects = found.map((what) => soft('chatter', belongsNot(what)));
  return WRAPPED.test(text) && !WRAPPED.test(source)
    ? [hard('chatter', belongsNot('the object around the text')), ...defects]
    : defects;
}

const belongsNot = (what: string): string =>
  `${what} does not belong to the translation: return the translation alone`;
