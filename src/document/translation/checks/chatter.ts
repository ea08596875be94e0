/** Remarks of a model around a translation. */
import { type Defect, hard, soft } from './defects.ts';

/** Stems of "translation" in the languages that models use for such remarks. */
const TRANSLATION =
  /translat|übersetz|uebersetz|traducci|traduc|traduç|tradução|traduz|traduzione|vertal|перев[оё]д|переклад|翻訳|翻译|翻譯|译文|譯文|訳文|번역|ترجم|תרגום|tłumacz|překlad|preklad|overs[æa]t|översätt|käännö|çevir|अनुवाद|fordít|traducere|μετάφρασ|превод|dịch|terjemah/iu;

/** A lead-in: a first line or sentence that ends with a colon. */
const LEAD = /^[^\n:：]{2,100}[:：](?=\s|["'“„«「*`]|$|\p{L})/u;

/** Friendly openings of a response. */
const GREETING =
  /^(?:sure|certainly|of course|absolutely|no problem|happy to help|here you go|here['’]?s|here is|here are|i['’]ve|as requested|claro(?: que sí)?|por supuesto|aquí (?:está|tiene|tienes)|natürlich|gerne|selbstverständlich|hier ist|bien sûr|voici|certo|ecco|claro|aqui está|конечно|вот|もちろん|承知しました|はい、|以下|当然|好的|以下是|بالتأكيد|بالطبع|إليك|تفضل)(?![\p{L}\p{M}])/iu;

/** A separate greeting before the text: "Sure!", "好的，". */
const INTERJECTION =
  /^(?:sure|certainly|of course|absolutely|no problem|¡?claro|por supuesto|gerne|bien sûr|конечно|もちろんです?|好的|当然可以|بالتأكيد|بالطبع)\s?[!！]/iu;

/** A note on the translation. */
const NOTE =
  /(?:^|[\n(（[【*]|[.!?。！？…][)"”»]?\s)\s?\*{0,2}(?:(?:translator['’]?s )?notes?|n\. ?b\.|(?:übersetzer-?)?(?:anmerkung|hinweis)(?:en)?|notas?(?: del traductor| do tradutor)?|remarques?|nota del traduttore|note du traducteur|примечани[ея](?: переводчика)?|注意?|注释|译注|译者注|訳注|備考|ملاحظة|ملحوظة|참고|opmerking|uwaga)\s?\*{0,2}\s?[:：]/iu;

/** A note in brackets after the last sentence. */
const REMARK = /\p{P}\s*[(（[](?=[^()（）[\]]*\p{L})[^()（）[\]]*[)）\]]\s*$/u;

/** A JSON object instead of a text. */
const WRAPPED = /^\s*[{[]\s*"(?:translation|text|translated\w*|target|result)"\s*:/i;

const QUOTES = /^["“”„‟«»‹›「‘'].*["“”‟«»‹›」』’']$/su;
const QUOTE_AT_EITHER_END = /^[\s(]*["“”„‟«»‹›「『‘'«]|["“”‟«»‹›」』’'][\s).,!?。]*$/u;

/** Finds a model's remarks in a translation; both texts without markup. */
export function checkChatter(source: string, translated: string): Defect[] {
  const text = translated.trim();
  const defects: Defect[] = [];
  const add = (what: string) =>
    defects.push(
      hard('chatter', `${what} does not belong to the translation: answer with the translation alone`),
    );
  const lead = LEAD.exec(text)?.[0];
  const isAbout = lead !== undefined && TRANSLATION.test(lead) && !TRANSLATION.test(source);
  const greets = lead !== undefined && GREETING.test(text) && !/[:：]/u.test(source);
  if (isAbout || greets || (INTERJECTION.test(text) && !/^[¡\s]*[\p{L}\s]{2,24}[!！]/u.test(source))) {
    add('the introduction before the text');
  }
  if (text.includes('```') && !source.includes('```')) add('the code fence');
  if (WRAPPED.test(text) && !WRAPPED.test(source)) add('the object around the text');
  if (NOTE.test(text) && !/[:：]/u.test(source)) add('the note');
  if (/\n\s*\n/.test(text) && !/\n\s*\n/.test(source.trim())) add('the added paragraph');
  if (REMARK.test(text) && !/[(（[]/.test(source)) {
    defects.push(soft('chatter', 'the remark in brackets after the text is not in the text: leave it out'));
  }
  if (QUOTES.test(text) && !QUOTE_AT_EITHER_END.test(source)) {
    defects.push(soft('chatter', 'the text has no quotation marks around it: leave them out'));
  }
  return defects;
}
