/** Numbers written as words, signs or month names. */
import { folded } from '../../text/characters.ts';
import { perLanguage } from './per-language.ts';
import { baseLanguage } from './text.ts';

/** Signs of Han numerals. */
const HAN_DIGITS: ReadonlyMap<string, number> = new Map([
  ...[...'〇一二三四五六七八九'].map((sign, value) => [sign, value] as const),
  ...[...'零壹贰叁肆伍陆柒捌玖'].map((sign, value) => [sign, value] as const),
  ['两', 2],
  ['兩', 2],
]);
const HAN_TENS: ReadonlyMap<string, number> = new Map([
  ['十', 10],
  ['百', 100],
  ['千', 1_000],
  ['천', 1_000],
  ['백', 100],
]);
const HAN_MYRIADS: ReadonlyMap<string, number> = new Map([
  ['万', 1e4],
  ['萬', 1e4],
  ['만', 1e4],
  ['億', 1e8],
  ['亿', 1e8],
  ['억', 1e8],
  ['兆', 1e12],
  ['조', 1e12],
]);
/** Numerals of Han signs, also behind digits: 三十, 3万, 1億2千万. */
const HAN =
  /(?<![\d.,])[\d.,]*[〇零一二三四五六七八九十百千万萬億亿兆两兩壹贰叁肆伍陆柒捌玖만억조천백][\d〇零一二三四五六七八九十百千万萬億亿兆两兩壹贰叁肆伍陆柒捌玖만억조천백]*/gu;
const ROMAN = /(?<![\p{L}\p{N}])[IVXLCDMХІ]{1,8}(?=(?:er?|ème|º|ª)?(?![\p{L}\p{N}]))/gu;
const ROMAN_VALUES: Readonly<Record<string, number>> = {
  I: 1,
  V: 5,
  X: 10,
  L: 50,
  C: 100,
  D: 500,
  M: 1_000,
};

/** Words for 0 to 20, then 30 to 90, by language; then `first` to `tenth` where other languages use digits. */
const WORDS: Readonly<Record<string, string>> = {
  en: 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety first second third fourth fifth sixth seventh eighth ninth tenth',
  de: 'null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig erste zweite dritte vierte fünfte sechste siebte achte neunte zehnte',
  es: 'cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa primer segund tercer cuart quint sext séptim octav noven décim',
  fr: 'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf vingt trente quarante cinquante soixante soixante-dix quatre-vingt quatre-vingt-dix premi deuxième troisième quatrième cinquième sixième septième huitième neuvième dixième',
  it: 'zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette diciotto diciannove venti trenta quaranta cinquanta sessanta settanta ottanta novanta prim second terz quart quint sest settim ottav non decim',
  pt: 'zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito dezenove vinte trinta quarenta cinquenta sessenta setenta oitenta noventa primeir segund terceir quart quint sext sétim oitav non décim',
  nl: 'nul een twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien negentien twintig dertig veertig vijftig zestig zeventig tachtig negentig eerste tweede derde vierde vijfde zesde zevende achtste negende tiende',
  ru: 'нол один дв три четыр пят шест сем восем девят десят одиннадцат двенадцат тринадцат четырнадцат пятнадцат шестнадцат семнадцат восемнадцат девятнадцат двадцат тридцат сорок пятьдесят шестьдесят семьдесят восемьдесят девяносто перв втор трет четверт пят шест седьм восьм девят десят',
};

/** Words that multiply the number before them. */
const SCALES: readonly (readonly [RegExp, number])[] = [
  [/^(?:hundred|hundert|cien|cent|сот|सौ|مئة|مائة)/, 100],
  [
    /^(?:thousand|tausend|mil(?![li])|mille|mila|duizend|tys|тыс|тис|हजार|हज़ार|ألف|آلاف|الف|k(?!\p{L})|천)/u,
    1e3,
  ],
  [
    /^(?:million|millón|millon|milion|milhao|milhões|milhoes|miljoen|mln|млн|миллион|мільйон|मिलियन|مليون|ملايين|mio|m(?!\p{L}))/u,
    1e6,
  ],
  [
    /^(?:billion|milliard|miliard|miljard|bilhão|bilhao|bilhoes|mrd|млрд|миллиард|мільярд|مليار|bn(?!\p{L}))/u,
    1e9,
  ],
  [/^(?:mil millones|mil milhoes)/u, 1e9],
  [/^(?:लाख|lakh)/u, 1e5],
  [/^(?:करोड़|करोड|crore)/u, 1e7],
];

/** The factors of the word after a number. */
export const scalesOf = (behind: string): number[] => {
  const word = folded(behind.replace(/^[\s\u00a0\u202f.-]{0,2}/, '').slice(0, 16));
  const plain = behind.trimStart().slice(0, 16).toLowerCase();
  return SCALES.flatMap(([pattern, scale]) => (pattern.test(word) || pattern.test(plain) ? scale : []));
};

/** Values of Han numerals, Roman numerals and number words in a text. */
export function writtenNumbers(text: string, language: string): Set<number> {
  const values = new Set<number>();
  for (const [numeral] of text.matchAll(HAN)) for (const value of hanValues(numeral)) values.add(value);
  for (const [numeral] of text.matchAll(ROMAN)) {
    values.add(romanValue(numeral.replaceAll('Х', 'X').replaceAll('І', 'I')));
  }
  for (const value of wordValues(text, language)) values.add(value);
  return values;
}

/** The values of a numeral: as one number, and as a sequence of digits, as in years. */
export function hanValues(numeral: string): number[] {
  let total = 0;
  let section = 0;
  let digits = '';
  let last: number | null = null;
  for (const part of numeral.match(/[\d.,]+|./gu) ?? []) {
    const digit = /\d/.test(part) ? Number(part.replaceAll(',', '')) : HAN_DIGITS.get(part);
    const ten = HAN_TENS.get(part);
    const myriad = HAN_MYRIADS.get(part);
    if (digit !== undefined) {
      last = digit;
      digits += String(digit);
    } else if (ten !== undefined) {
      section += (last ?? 1) * ten;
      last = null;
    } else if (myriad !== undefined) {
      total += Math.max(1, section + (last ?? 0)) * myriad;
      section = 0;
      last = null;
    }
  }
  return [total + section + (last ?? 0), Number(digits)].filter((value) => !Number.isNaN(value));
}

function romanValue(numeral: string): number {
  let value = 0;
  for (let at = 0; at < numeral.length; at += 1) {
    const one = ROMAN_VALUES[numeral.charAt(at)] ?? 0;
    const next = ROMAN_VALUES[numeral.charAt(at + 1)] ?? 0;
    value += one < next ? -one : one;
  }
  return value;
}

const WORD = /[\p{L}\p{M}]+(?:-[\p{L}\p{M}]+)*/gu;
const valueOfPlace = (place: number): number =>
  place <= 20 ? place : place <= 27 ? (place - 18) * 10 : place - 27;

/** Stems of number words with their values, the longest first. */
const STEMS: ReadonlyMap<string, readonly (readonly [string, number])[]> = new Map(
  Object.entries(WORDS).map(([language, words]) => [
    language,
    words
      .split(' ')
      .map((word, place) => [folded(word), valueOfPlace(place)] as const)
      .sort(([one], [other]) => other.length - one.length),
  ]),
);

/** True for a language whose number words are known; Han numerals are, too. */
export const hasNumberWords = (language: string): boolean =>
  STEMS.has(baseLanguage(language)) || ['ja', 'ko', 'zh'].includes(baseLanguage(language));

function wordValues(text: string, language: string): Set<number> {
  const values = new Set<number>();
  const stems = STEMS.get(baseLanguage(language));
  if (stems === undefined) return values;
  const words = new Set(folded(text).match(WORD));
  for (const word of words) {
    for (const part of [word, ...word.split('-')]) {
      // A stem with an ending: zweiten, дванадцати, terceros.
      const found = stems.find(([stem]) => part.startsWith(stem) && part.length - stem.length <= 3);
      if (found !== undefined) values.add(found[1]);
    }
  }
  const single = [...values];
  for (const ten of single.filter((value) => value >= 20 && value % 10 === 0)) {
    for (const unit of single.filter((value) => value < 10)) values.add(ten + unit);
  }
  const small = [1, ...values];
  for (const [pattern, scale] of SCALES) {
    if ([...words].some((word) => pattern.test(word))) for (const value of small) values.add(value * scale);
  }
  return values;
}

/** The numbers (1 to 12) of the months named in a text. */
export function monthsIn(text: string, language: string): Set<number> {
  const there = new Set<number>();
  const plain = folded(text);
  for (const [index, names] of monthNames(language).entries()) {
    if (names.some((name) => plain.includes(name))) there.add(index + 1);
  }
  return there;
}

/** The names of the months in a language, folded, long and short. */
const monthNames = perLanguage((language) => {
  const forms = (['long', 'short'] as const).flatMap((month) => [
    new Intl.DateTimeFormat(language, { month, timeZone: 'UTC', calendar: 'gregory' }),
    new Intl.DateTimeFormat(language, { month, day: 'numeric', timeZone: 'UTC', calendar: 'gregory' }),
  ]);
  return Array.from({ length: 12 }, (_, month) =>
    forms.flatMap((form) => {
      const name =
        form.formatToParts(Date.UTC(2026, month, 1)).find(({ type }) => type === 'month')?.value ?? '';
      return /\p{L}{3}/u.test(name) && !/\d/.test(name) ? folded(name.replace('.', '')) : [];
    }),
  );
});
