/** Units, currencies and per cent that were changed. */
import { toAsciiDigits } from '../figures.ts';
import { type Defect, soft } from './defects.ts';

/** Units by dimension, each with its written forms beside a number. */
const DIMENSIONS: readonly (readonly (readonly [name: string, forms: string])[])[] = [
  [
    ['mm', 'mm мм ملم 毫米 ミリ 밀리미터'],
    ['cm', 'cm см سم 厘米 公分 センチ 센티미터'],
    ['km', 'km км كم 公里 千米 キロ 킬로미터'],
    ['m', 'm м متر 米 メートル 미터'],
    ['mi', 'mi miles mile millas milla Meilen Meile миль мили ميل 英里 マイル'],
    ['in', 'inches inch Zoll pulgadas дюймов дюйма بوصة 英寸 インチ'],
    ['ft', 'ft feet foot Fuß pies футов фута قدم 英尺 フィート'],
  ],
  [
    ['mg', 'mg мг ملغ 毫克 ミリグラム'],
    ['kg', 'kg кг كغ كجم 公斤 千克 キロ キログラム'],
    ['g', 'g г غ 克 グラム'],
    ['t', 't т طن 吨 トン'],
    ['lb', 'lb lbs pounds pound libras Pfund фунтов رطل 磅 ポンド'],
  ],
  [
    ['ml', 'ml мл مل 毫升 ミリリットル'],
    ['l', 'l L л لتر 升 リットル'],
  ],
  [
    ['°C', '°C ℃ ° C'],
    ['°F', '°F ℉ ° F'],
  ],
  [
    ['kB', 'kB KB кБ КБ كيلوبايت'],
    ['MB', 'MB МБ ميغابايت'],
    ['GB', 'GB ГБ غيغابايت'],
    ['TB', 'TB ТБ تيرابايت'],
  ],
  [
    [
      '%',
      '% ٪ ％ percent per cent Prozent por ciento pour cent por cento per cento процент procent في المئة بالمئة في المائة بالمائة パーセント 퍼센트 प्रतिशत 百分之',
    ],
    ['‰', '‰ ؉ permille Promille промилле'],
  ],
  [
    ['$', '$ ＄ USD dollars dollar dólares Dollar долларов доллара доллар دولار 美元 ドル'],
    ['€', '€ EUR euros euro Euro евро يورو 欧元 ユーロ'],
    ['£', '£ GBP'],
    ['¥', '¥ ￥ JPY CNY 円 元 人民币 yen Yen иен юаней'],
  ],
];

/** A form and its pattern: after a number, or before it for currency signs. */
const FORMS = DIMENSIONS.map((units) =>
  units.map(([name, forms]) => {
    const spelled = formsOf(forms)
      .map((form) => RegExp.escape(form))
      .join('|');
    return {
      name,
      pattern: new RegExp(
        `\\d[\\s\\u00a0\\u202f-]?(?:${spelled})(?![\\p{Script=Latin}\\p{Script=Cyrillic}\\p{Script=Arabic}\\p{N}])|(?:${spelled})\\s?\\d`,
        'u',
      ),
    };
  }),
);

/** Forms are words, but for those of per cent and degrees that have a space in them. */
function formsOf(forms: string): string[] {
  const pairs = [
    'per cent',
    'por ciento',
    'pour cent',
    'por cento',
    'per cento',
    'في المئة',
    'في المائة',
    '° C',
    '° F',
  ];
  const long = pairs.filter((pair) => forms.includes(pair));
  return [...long, ...long.reduce((rest, pair) => rest.replace(pair, ''), forms).split(/\s+/)].filter(
    (form) => form !== '',
  );
}

/** Finds units that were replaced by another of the same dimension. */
export function checkUnits(source: string, translated: string): Defect[] {
  if (!/\p{Nd}/u.test(source)) return [];
  const from = toAsciiDigits(source);
  const to = toAsciiDigits(translated);
  const defects: Defect[] = [];
  for (const units of FORMS) {
    const [before, after] = [from, to].map((text) =>
      units.filter(({ pattern }) => pattern.test(text)).map(({ name }) => name),
    );
    const lost = before?.filter((name) => !after?.includes(name)) ?? [];
    const added = after?.filter((name) => !before?.includes(name)) ?? [];
    if (lost.length > 0 && added.length > 0) {
      defects.push(soft('units', `the unit ${lost.join(', ')} of the text has become ${added.join(', ')}`));
    }
  }
  return defects;
}
