/** Headings of questions and answers. */
import { folded } from '../../document/text/characters.ts';

/** Heading of the FAQ, by language. */
const HEADINGS: Readonly<Record<string, string>> = {
  ar: 'الأسئلة الشائعة',
  bg: 'Често задавани въпроси',
  ca: 'Preguntes freqüents',
  cs: 'Často kladené dotazy',
  da: 'Ofte stillede spørgsmål',
  de: 'Häufig gestellte Fragen',
  el: 'Συχνές ερωτήσεις',
  es: 'Preguntas frecuentes',
  et: 'Korduma kippuvad küsimused',
  fa: 'پرسش‌های متداول',
  fi: 'Usein kysytyt kysymykset',
  fr: 'Questions fréquentes',
  he: 'שאלות נפוצות',
  hi: 'अक्सर पूछे जाने वाले प्रश्न',
  hr: 'Često postavljana pitanja',
  hu: 'Gyakran ismételt kérdések',
  id: 'Pertanyaan yang sering diajukan',
  it: 'Domande frequenti',
  ja: 'よくある質問',
  ko: '자주 묻는 질문',
  lt: 'Dažniausiai užduodami klausimai',
  lv: 'Biežāk uzdotie jautājumi',
  ms: 'Soalan lazim',
  nb: 'Ofte stilte spørsmål',
  nl: 'Veelgestelde vragen',
  no: 'Ofte stilte spørsmål',
  pl: 'Często zadawane pytania',
  pt: 'Perguntas frequentes',
  ro: 'Întrebări frecvente',
  ru: 'Часто задаваемые вопросы',
  sk: 'Často kladené otázky',
  sl: 'Pogosta vprašanja',
  sr: 'Често постављана питања',
  'sr-Latn': 'Često postavljana pitanja',
  sv: 'Vanliga frågor',
  th: 'คำถามที่พบบ่อย',
  tr: 'Sıkça sorulan sorular',
  uk: 'Поширені запитання',
  vi: 'Câu hỏi thường gặp',
  zh: '常见问题',
  'zh-Hant': '常見問題',
};

const ENGLISH = 'Frequently asked questions';

/** The heading in this language, else in English. */
export function faqHeading(language: string): string {
  const locale = new Intl.Locale(language).maximize();
  return HEADINGS[`${locale.language}-${locale.script}`] ?? HEADINGS[locale.language] ?? ENGLISH;
}

/** What outlines call such a section besides. */
const OTHERS = [
  'FAQ',
  'FAQs',
  'Q&A',
  'Questions and answers',
  'Fragen und Antworten',
  'Preguntas y respuestas',
  'Questions et réponses',
  'Foire aux questions',
  'Domande e risposte',
  'Perguntas e respostas',
  'Vragen en antwoorden',
  'Frågor och svar',
  'Pytania i odpowiedzi',
];

const bare = (text: string): string => (folded(text).match(/[\p{L}\p{N}]+/gu) ?? []).join(' ');

const KNOWN = [ENGLISH, ...Object.values(HEADINGS), ...OTHERS].map(bare);

/** True for the heading of a section of questions and answers, in any language, also `FAQ: roses`. */
function isFaqHeading(heading: string): boolean {
  const [before = ''] = heading.split(/[:–—]/);
  const [own, whole] = [bare(before), bare(heading)];
  return KNOWN.some((known) => own === known || (known.includes(' ') && whole.startsWith(`${known} `)));
}

/**
 * The sections without those of questions and answers and their parts: such questions are added at the end. All of them
 * when nothing else would be left.
 */
export function withoutFaq<Section extends { readonly heading: string; readonly level: number }>(
  sections: readonly Section[],
): readonly Section[] {
  let below: number | null = null;
  const kept = sections.filter(({ heading, level }) => {
    if (below !== null && level > below) return false;
    below = isFaqHeading(heading) ? level : null;
    return below === null;
  });
  return kept.length === 0 ? sections : kept;
}
